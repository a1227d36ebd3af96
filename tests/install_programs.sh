#!/bin/sh
# Programs of the system that tests use: Chromium and a Chinese font for the browser tests, strace
# for the test that nothing leaves this computer.
# As root on Debian they are installed; elsewhere it is said what to install, and those tests skip.
have_browser() { command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }
have_font() { command -v fc-list >/dev/null && fc-list :lang=zh 2>/dev/null | grep -q .; }
have_all() { have_browser && have_font && command -v strace >/dev/null; }

have_all && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium, a Chinese font and strace for the tests ..."
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null && apt-get install -y -qq chromium fonts-wqy-microhei fontconfig strace >/dev/null 2>&1
    have_all && exit 0
fi

echo "note: some tests will be skipped: install their programs first, for example"
echo "      sudo apt-get install chromium fonts-wqy-microhei strace"
