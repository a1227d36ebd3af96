"""Label sets of the official files: each official label with this project's name for it.

Models of this project answer with the name, which is readable; a submission has the official label.
"""

from __future__ import annotations

from collections.abc import Mapping

Labels = Mapping[str, str]  # official label → name

SIMILARITY: Labels = {"0": "different", "1": "similar"}
KEYWORDS: Labels = {"0": "some_fake", "1": "all_real"}
COREFERENCE: Labels = {"false": "false", "true": "true"}
SENTIMENT: Labels = {"Negative": "negative", "Positive": "positive"}
INFERENCE: Labels = {name: name for name in ("contradiction", "entailment", "neutral")}

# The names are the official "label_desc"; 105 and 111 do not exist.
NEWS: Labels = {
    "100": "news_story",
    "101": "news_culture",
    "102": "news_entertainment",
    "103": "news_sports",
    "104": "news_finance",
    "106": "news_house",
    "107": "news_car",
    "108": "news_edu",
    "109": "news_tech",
    "110": "news_military",
    "112": "news_travel",
    "113": "news_world",
    "114": "news_stock",
    "115": "news_agriculture",
    "116": "news_game",
}

# 119 numbered categories of apps; the names are the official "label_des".
_APPLICATIONS = """
    打车 地图导航 免费WIFI 租车 同城服务 快递物流 婚庆 家政 公共交通 政务 社区服务 薅羊毛 魔幻
    仙侠 卡牌 飞行空战 射击游戏 休闲益智 动作类 体育竞技 棋牌中心 经营养成 策略 MOBA 辅助工具
    约会社交 即时通讯 工作社交 论坛圈子 婚恋社交 情侣社交 社交工具 生活社交 微博博客 新闻 漫画
    小说 技术 教辅 问答交流 搞笑 杂志 百科 影视娱乐 求职 兼职 视频 短视频 音乐 直播 电台 K歌 成人
    中小学 职考 公务员 英语 视频教育 高等教育 成人教育 艺术 语言(非英语) 旅游资讯 综合预定 民航
    铁路 酒店 行程管理 民宿短租 出国 工具 亲子儿童 母婴 驾校 违章 汽车咨询 汽车交易 日常养车
    行车辅助 租房 买房 装修家居 电子产品 问诊挂号 养生保健 医疗服务 减肥瘦身 美妆美业 菜谱 餐饮店
    体育咨讯 运动健身 支付 保险 股票 借贷 理财 彩票 记账 银行 美颜 影像剪辑 摄影修图 相机 绘画
    二手 电商 团购 外卖 电影票务 社区超市 购物咨询 笔记 办公 日程管理 女性 经营 收款 其他
"""
APPLICATIONS: Labels = {str(number): name for number, name in enumerate(_APPLICATIONS.split())}

# 67 scientific disciplines; the official label is the name.
_SCIENCES = """
    中医学/中药学 中国语言文学 交通运输工程 体育学 作物学 信息与通信工程 光学工程
    公共卫生与预防医学 公共管理 兵器科学与技术 军事学 农业工程 农业资源利用 农林经济管理 冶金工程
    力学 动力工程及工程热物理 化学/化学工程与技术 历史学 口腔医学 哲学 园艺学
    图书馆、情报与档案管理 土木工程 地球物理学 地理学 地质学/地质资源与地质工程 基础医学/临床医学
    大气科学 天文学 工商管理 应用经济学 建筑学 心理学 控制科学与工程 政治学 教育学 数学 新闻传播学
    机械工程 材料科学与工程 林学/林业工程 核科学与技术 植物保护 民族学 水产 水利工程 法学
    测绘科学与技术 海洋科学 物理学 环境科学与工程 理论经济学 生物学/生物科学与工程 电子科学与技术
    电气工程 畜牧学/兽医学 石油与天然气工程 矿业工程 社会学 纺织科学与工程 航空宇航科学与技术
    船舶与海洋工程 艺术学 药学 计算机科学与技术 食品科学与工程
"""
SCIENCES: Labels = {name: name for name in _SCIENCES.split()}

ENTITY_TYPES: Labels = {
    name: name
    for name in (
        *("address", "book", "company", "game", "government"),
        *("movie", "name", "organization", "position", "scene"),
    )
}
