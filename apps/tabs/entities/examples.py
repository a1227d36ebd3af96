"""The examples of the entities tab, written for this page."""

from __future__ import annotations

from apps.i18n.page import Example

EXAMPLES = (
    Example(
        "浙江大学计算机学院的王教授上周到杭州市西湖区考察了一家做机器人的公司。",
        "Professor Wang of Zhejiang University visited a robotics firm in Hangzhou last week.",
    ),
    Example(
        "中国足协宣布，前锋李小明将缺席在上海体育场举行的下一场比赛。",
        "Striker Li Xiaoming will miss the next match at Shanghai Stadium, the association says.",
    ),
    Example(
        "导演林海生的新片《长城谣》将于十月在北京首映，由星河影业负责发行。",
        "Director Lin Haisheng's new film opens in Beijing in October, from Xinghe Pictures.",
    ),
    Example(
        "市财政局局长张伟介绍，故宫和颐和园今年的门票收入将用于修缮。",
        "Ticket income of two palaces goes into repairs, says Zhang Wei of the finance bureau.",
    ),
)
