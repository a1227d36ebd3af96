"""The address of a server."""

from __future__ import annotations

import pytest

from zh_albert.errors import ZhAlbertError
from zh_albert.serving.listening import bound


@pytest.mark.parametrize("host", ["127.0..1", "a" * 70, "..."])
def test_a_name_of_no_host_is_one_line(host: str) -> None:
    with pytest.raises(ZhAlbertError, match=r"no such address \(.+\); use 127\.0\.0\.1") as caught:
        bound(host, 0)
    assert "\n" not in str(caught.value)


def test_a_port_in_use_is_one_line() -> None:
    with bound("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ZhAlbertError, match=rf"port {port} cannot be used .*--port 0"):
            bound("127.0.0.1", port)
