"""Sentences of an own grammar: each meaning in several forms, beside other meanings in theirs.

All forms of two meanings are drawn from the same patterns, so only who stands where, a negation, an
opposite word or a number tells them apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from corpora_tools.lessons import tables
from corpora_tools.lessons.numbers import in_chinese
from corpora_tools.lessons.sentence import Relation

Forms = Sequence[str]
_MEASURES = {"手机": "部", "电脑": "台", "相机": "台", "手表": "块", "雨伞": "把", "衬衫": "件", "外套": "件", "沙发": "张",
             "桌子": "张", "吉他": "把", "冰箱": "台", "洗衣机": "台", "空调": "台", "电视": "台", "自行车": "辆", "汽车": "辆",
             "耳机": "副", "皮鞋": "双"}  # fmt: skip
_DIMENSIONS = {
    "person": "胖 瘦|勤快 懒|聪明 笨|年轻 年老|细心 粗心|勇敢 胆小|外向 内向|大方 小气",
    "city": "热闹 冷清|干净 脏|远 近|大 小|安静 吵|温暖 寒冷|发达 落后",
    "product": "贵 便宜|重 轻|好看 难看|好用 难用|新 旧|结实 脆弱",
    "place": "远 近|大 小|安静 吵|干净 脏|明亮 昏暗|宽敞 狭窄",
    "company": "大 小|富有 贫穷|先进 落后|稳定 动荡",
    "fruit": "贵 便宜|甜 酸|大 小|好吃 难吃|新鲜 陈旧",
}
_STATES = {
    "product": "贵 便宜|重 轻|好看 难看|好用 难用",
    "place": "远 近|安静 吵|干净 脏|宽敞 狭窄",
    "fruit": "贵 便宜|好吃 难吃",
    "person": "胖 瘦|聪明 笨|细心 粗心|勤快 懒",
    "subject": "难 容易|有趣 无聊",
}
_CONVERSE = "老师 学生|爸爸 儿子|妈妈 儿子|爷爷 孙子|奶奶 孙女|老板 员工|师傅 徒弟|房东 租客|上司 下属|医生 病人|教练 队员|叔叔 侄子|舅舅 外甥"
_EVENTS = (
    "吃饭 洗澡 写作业 看电影 打扫房间 去超市 开会 跑步 交报告 给妈妈打电话 买菜 锻炼 看书 洗衣服 喝咖啡 寄快递 取钱 "
    "见客户 修电脑 浇花 遛狗 理发 缴费 签合同 付款 检查身体 练琴 休息 回邮件 订酒店 买票 做饭"
).split()
_CAUSES = (
    "下大雨|路上很堵 心情不好|失眠 压力很大|胃口不好 成绩下降|情绪低落 工作太累|身体不舒服 两家公司竞争|价格降低 "
    "孩子哭闹|大人吵架 机器停了|工人离开了 他们争吵|孩子离家 需求减少|工厂减产 他总是迟到|老板对他不满 店里人少|菜的种类变少 "
    "学生没有兴趣|老师讲得很快 他经常锻炼|心情愉快 大家信任他|他做事认真 停电|工厂停工"
).split()
_DEALS = (
    "开通|关闭 绑定|解绑 登录|退出 安装|卸载 添加|删除 下载|上传 预订|取消 打开|关掉 充值|提现 购买|出售 借入|借出 连接|断开 "
    "锁定|解锁 放大|缩小 增加|减少 开启|关闭 申请|取消 冻结|解冻"
).split()
_OBJECTS = {
    "开通|关闭": "会员 自动续费 夜间模式 定位服务 语音助手 网银", "绑定|解绑": "手机号 银行卡 邮箱 微信", "登录|退出": "账号 网页版 系统",
    "安装|卸载": "软件 插件 驱动 输入法", "添加|删除": "好友 联系人 收货地址 照片 备注", "下载|上传": "文件 视频 音乐 简历 资料",
    "预订|取消": "酒店 机票 会议室 包间", "打开|关掉": "空调 蓝牙 无线网 闹钟 通知", "充值|提现": "余额 钱包", "购买|出售": "二手车 股票 基金 房子",
    "借入|借出": "图书 资金", "连接|断开": "打印机 网络 耳机 热点", "锁定|解锁": "屏幕 手机 键盘", "放大|缩小": "图片 字体 窗口",
    "增加|减少": "运动量 存款 饭量 用水量", "开启|关闭": "推送 录音 飞行模式 省电模式", "申请|取消": "贷款 信用卡 补贴 发票", "冻结|解冻": "账户 资金",
}  # fmt: skip
_PERMITTED = (
    "停车 抽烟 拍照 游泳 钓鱼 野餐 带宠物 大声说话 过夜 吃东西 骑车 使用手机 放烟花 摆摊 退货 刷卡 打球 烧烤".split()
)
_ALL_DO = (
    "学生|交了作业 员工|参加了培训 客人|离开了 房间|有空调 座位|坐满了 孩子|打了疫苗 商店|关门了 司机|有驾照 球员|受过伤 邻居|养狗 "
    "菜|放了辣椒 产品|通过了检查 航班|取消了 门票|卖完了 老师|会说英语 手机|能防水"
).split()
_RELATIVE = "东边 西边|南边 北边|左边 右边|前面 后面"
_LANDMARKS = "学校 银行 邮局 书店 公园 车站 超市 医院 餐厅 图书馆 警察局 酒店 体育馆 菜市场 博物馆 咖啡馆".split()


class Altered(NamedTuple):
    """Another meaning near the first, in its forms.

    Attributes:
        relation: What the first meaning says about it.
        score: Similarity of the two meanings, 0 to 5.
    """

    kind: str
    relation: Relation
    score: float
    forms: Forms


class Meaning(NamedTuple):
    """A meaning in its forms, and other meanings."""

    kind: str
    forms: Forms
    altered: Sequence[Altered]


def make_meaning(rng: random.Random) -> Meaning:
    """Draw a meaning; a time or a place before it, now and then, is the same in all its forms."""
    meaning = rng.choice(_PATTERNS)(rng)
    if meaning.kind in ("actions", "permission", "position") or rng.random() < 0.4:
        return meaning
    opening = rng.choice(
        ["听说", "据说", "我听说", "新闻里说，", "朋友告诉我，", "大家都知道，", "他说", "我记得", "我觉得", "报纸上写着，", "书里说，"]
    )
    altered = [one._replace(forms=[opening + form for form in one.forms]) for one in meaning.altered]
    return meaning._replace(forms=[opening + form for form in meaning.forms], altered=altered)


def roles(rng: random.Random) -> Meaning:
    """Return who did what to whom: A打败了B, B被A打败了."""
    frame = rng.choice(tables.frames())
    one, other, third = _names(rng, frame.kind, 3)

    def forms(doer: str, done: str) -> Forms:
        verb = frame.verb
        plain = (f"{doer}{verb}了{done}", f"是{doer}{verb}了{done}", f"{verb}了{done}的是{doer}")
        short = len(verb) < 3
        return (
            f"{done}被{doer}{verb}了",
            *(plain if short else ()),
            f"被{doer}{verb}的是{done}",
            *((f"{doer}把{done}{verb}了",) if frame.disposal else ()),
        )

    verb = frame.verb
    denied = [f"{other}没有被{one}{verb}"]
    denied += [f"{one}没有{verb}{other}", f"{one}没{verb}{other}"] if len(verb) < 3 else []
    denied += [f"{one}没有把{other}{verb}"] if frame.disposal else []
    swapped: Relation = "contradiction" if frame.one_way else "neutral"
    return Meaning(
        "roles",
        forms(one, other),
        (
            Altered("roles_swapped", swapped, 1.5, forms(other, one)),
            Altered("roles_negated", "contradiction", 1.0, denied),
            Altered("roles_other_name", "neutral", 1.8, [*forms(one, third), *forms(third, other)]),
        ),
    )


def wins(rng: random.Random) -> Meaning:
    """Return who won: A赢了B, B输给了A."""
    one, other = _names(rng, "team", 2)
    low, high = sorted(rng.sample(range(10), 2))
    scored = rng.random() < 0.5

    def forms(winner: str, loser: str) -> Forms:
        if scored:
            return (
                f"{winner}以{high}比{low}战胜{loser}", f"{loser}以{low}比{high}输给{winner}", f"{winner}{high}比{low}赢了{loser}",
                f"{loser}{low}比{high}不敌{winner}", f"{winner}和{loser}比赛，{winner}{high}比{low}赢了",
            )  # fmt: skip
        return (
            f"{winner}赢了{loser}", f"{loser}输给了{winner}", f"{loser}败给了{winner}", f"{winner}战胜了{loser}",
            f"{winner}和{loser}比赛，{winner}赢了", f"{winner}和{loser}比赛，{loser}输了", f"{loser}没有赢{winner}，输了",
        )  # fmt: skip

    return Meaning("wins", forms(one, other), [Altered("wins_swapped", "contradiction", 1.2, forms(other, one))])


def transfers(rng: random.Random) -> Meaning:
    """Return who gave what to whom: A借给B一本书, B向A借了一本书."""
    one, other = _names(rng, "person", 2)
    thing = rng.choice(list(_MEASURES))
    number, more = rng.sample("一两三四五六", 2)
    give, take, source = rng.choice([("借", "借", "向"), ("卖", "买", "从"), ("送", "收", "从"), ("租", "租", "从")])

    def forms(giver: str, taker: str, amount: str = number) -> Forms:
        what = f"{amount}{_MEASURES[thing]}{thing}"
        back = f"{taker}收到了{giver}送的{what}" if give == "送" else f"{taker}{source}{giver}那里{take}了{what}"
        back = f"{taker}向{giver}借了{what}" if give == "借" else back
        return (f"{giver}{give}给{taker}{what}", f"{giver}把{what}{give}给了{taker}", back, f"{giver}{give}给了{taker}{what}")

    return Meaning(
        "transfers",
        forms(one, other),
        (
            Altered("transfer_swapped", "neutral", 1.3, forms(other, one)),
            Altered("transfer_number", "contradiction", 2.0, forms(one, other, more)),
        ),
    )


def comparisons(rng: random.Random) -> Meaning:
    """Return which is more: A比B贵, B比A便宜."""
    kind = rng.choice(list(_DIMENSIONS))
    more, less = rng.choice(_DIMENSIONS[kind].split("|")).split()
    if rng.random() < 0.5:
        more, less = less, more
    one, other = _names(rng, kind, 2)

    def forms(a: str, b: str) -> Forms:
        return (
            f"{a}比{b}{more}", f"{b}比{a}{less}", f"{b}没有{a}{more}", f"{a}没有{b}{less}", f"跟{b}比，{a}更{more}", f"和{a}相比，{b}更{less}",
            f"{a}和{b}，{a}更{more}",
        )  # fmt: skip

    return Meaning("comparisons", forms(one, other), [Altered("comparison_swapped", "contradiction", 1.2, forms(other, one))])


def routes(rng: random.Random) -> Meaning:
    """Return where somebody went: 从A到B, 由A去B."""
    who, other_who = _names(rng, "person", 2)
    start, goal, third = rng.sample(tables.entities()["city"], 3)
    how = rng.choice(tables.entities()["vehicle"])

    def forms(person: str, a: str, b: str) -> Forms:
        return (
            f"{person}从{a}坐{how}到{b}", f"{person}坐{how}从{a}去{b}", f"{person}从{a}出发，坐{how}前往{b}", f"{person}坐{how}离开{a}，去了{b}",
            f"{person}要去{b}，从{a}坐{how}出发",
        )  # fmt: skip

    return Meaning(
        "routes",
        forms(who, start, goal),
        (
            Altered("route_swapped", "contradiction", 1.5, forms(who, goal, start)),
            Altered("route_place", "contradiction", 1.8, [*forms(who, start, third), *forms(who, third, goal)]),
            Altered("route_name", "neutral", 1.8, forms(other_who, start, goal)),
        ),
    )


def orders(rng: random.Random) -> Meaning:
    """Return what came first: 先A再B, B之前A."""
    who = _names(rng, "person", 1)[0]
    one, other = rng.sample(_EVENTS, 2)

    def forms(a: str, b: str) -> Forms:
        return (
            f"{who}先{a}，再{b}", f"{who}在{b}之前{a}", f"{who}在{a}之后{b}", f"{a}以后，{who}才{b}", f"{who}先{a}，然后{b}", f"{b}以前，{who}先{a}",
        )  # fmt: skip

    return Meaning("orders", forms(one, other), [Altered("order_swapped", "contradiction", 1.8, forms(other, one))])


def causes(rng: random.Random) -> Meaning:
    """Return what led to what: 因为A，所以B, B是因为A."""
    one, other = rng.choice(_CAUSES).split("|")
    if rng.random() < 0.5:
        one, other = other, one

    def forms(a: str, b: str) -> Forms:
        return (f"因为{a}，所以{b}", f"由于{a}，因此{b}", f"之所以{b}，是因为{a}", f"{b}，是因为{a}", f"{a}，所以{b}", f"{b}，原因是{a}")

    denied = [f"虽然{one}，但是{other}的原因不是这个", f"{other}，不是因为{one}", f"{other}，并不是由于{one}"]
    return Meaning(
        "causes",
        forms(one, other),
        (Altered("cause_swapped", "neutral", 1.8, forms(other, one)), Altered("cause_negated", "contradiction", 1.2, denied)),
    )


def adverbials(rng: random.Random) -> Meaning:
    """Return who did what when and where, in any order: 昨天小王在上海开会."""
    who, third = _names(rng, "person", 2)
    day, place = rng.choice(tables.TIMES[:1] + ("weekday", "month")), rng.choice(["city", "place"])
    when, then = rng.sample(tables.entities()[day], 2)
    where, there = rng.sample(tables.entities()[place], 2)
    what = rng.choice([one for one in _EVENTS if not one.startswith(("去", "给", "打扫"))])

    def forms(person: str, time: str, spot: str) -> Forms:
        return (
            f"{time}{person}在{spot}{what}", f"{person}{time}在{spot}{what}", f"{time}，{person}在{spot}{what}", f"{time}在{spot}{what}的是{person}",
            f"{person}在{spot}{what}，那是{time}的事",
        )  # fmt: skip

    return Meaning(
        "adverbials",
        forms(who, when, where),
        (
            Altered("other_time", "contradiction", 2.0, forms(who, then, where)),
            Altered("other_place", "contradiction", 1.8, forms(who, when, there)),
            Altered("other_name", "neutral", 1.8, forms(third, when, where)),
            Altered(
                "event_negated",
                "contradiction",
                1.0,
                [f"{when}{who}没有在{where}{what}", f"{who}{when}没在{where}{what}", f"{when}，{who}没有在{where}{what}"],
            ),
        ),
    )


def amounts(rng: random.Random) -> Meaning:
    """Return how many and how much, in digits and in words: 三十块, 30元."""
    who = _names(rng, "person", 1)[0]
    thing = rng.choice(list(_MEASURES))
    count, other = rng.sample(range(2, 13), 2)
    price, other_price = (10 * one for one in rng.sample(range(3, 99), 2))

    def forms(number: int, money: int) -> Forms:
        word = "两" if number == 2 else in_chinese(number)
        measure = _MEASURES[thing]
        return (
            f"{who}买了{word}{measure}{thing}，花了{in_chinese(money)}元", f"{who}买了{number}{measure}{thing}，花了{money}元",
            f"{who}花了{money}块钱买了{word}{measure}{thing}", f"{who}花{in_chinese(money)}元买{number}{measure}{thing}",
            f"{who}用{money}元买了{number}{measure}{thing}",
        )  # fmt: skip

    return Meaning(
        "amounts",
        forms(count, price),
        (
            Altered("other_count", "contradiction", 2.0, forms(other, price)),
            Altered("other_price", "contradiction", 2.2, forms(count, other_price)),
        ),
    )


def permission(rng: random.Random) -> Meaning:
    """Return whether something is allowed: 可以停车, 不禁止停车."""
    where = rng.choice(["这里", "公园里", "图书馆里", "广场上", "小区里", "河边", "店里", "车上", "校园里", "机场里", "博物馆里"])
    what = rng.choice(_PERMITTED)
    when = rng.choice(["", "晚上", "周末", "白天", "节日期间"])
    yes = (f"{where}{when}可以{what}", f"{when}{where}允许{what}", f"{where}{when}不禁止{what}", f"{when}在{where}{what}是允许的", f"{where}{when}能{what}")
    no = (
        f"{where}{when}不可以{what}", f"{when}{where}不允许{what}", f"{where}{when}禁止{what}", f"{when}在{where}{what}是不允许的", f"{where}{when}不能{what}",
    )  # fmt: skip
    must = (f"{where}{when}必须{what}", f"{when}在{where}不得不{what}", f"{when}{where}不{what}不行")
    first, second = (yes, no) if rng.random() < 0.5 else (no, yes)
    more = [Altered("must", "neutral", 2.0, must)] if first is yes else []
    return Meaning("permission", first, [Altered("permission_opposite", "contradiction", 1.0, second), *more])


def quantities(rng: random.Random) -> Meaning:
    """Return how many do: 所有学生都交了作业, 没有一个学生没交作业."""
    who, does = rng.choice(_ALL_DO).split("|")
    where = rng.choice(["", "这里的", "今年的", "他提到的", "名单上的", "昨天说的那些"])
    every = (f"{where}所有{who}都{does}", f"{where}{who}全都{does}", f"{where}每个{who}都{does}", f"{where}{who}全部{does}")
    some = (f"{where}有些{who}{does}", f"{where}有的{who}{does}", f"{where}一部分{who}{does}", f"{where}{who}里有一些{does}")
    not_all = (f"{where}不是所有{who}都{does}", f"{where}{who}没有全都{does}", f"{where}并非每个{who}都{does}", f"{where}{who}不是全部{does}")
    return Meaning(
        "quantities",
        every,
        (Altered("not_all", "contradiction", 1.5, not_all), Altered("some", "entailment", 2.5, some)),
    )


def states(rng: random.Random) -> Meaning:
    """Return how something is: 很贵, 不便宜."""
    kind = rng.choice(list(_STATES))
    is_so, opposite = rng.choice(_STATES[kind].split("|")).split()
    if rng.random() < 0.5:
        is_so, opposite = opposite, is_so
    it = _names(rng, kind, 1)[0]

    def forms(so: str, other: str) -> Forms:
        return (f"{it}很{so}", f"{it}一点也不{other}", f"{it}不{other}", f"{it}并不{other}", f"{it}挺{so}的")

    return Meaning("states", forms(is_so, opposite), [Altered("state_opposite", "contradiction", 0.8, forms(opposite, is_so))])


def actions(rng: random.Random) -> Meaning:
    """Return a question how to do something: 怎么开通会员, 会员如何开通."""
    deal = rng.choice(_DEALS)
    does, undoes = deal.split("|")
    what, other = rng.sample(_OBJECTS[deal].split(), 2)
    if rng.random() < 0.5:
        does, undoes = undoes, does

    def forms(verb: str, thing: str) -> Forms:
        return (
            f"怎么{verb}{thing}？", f"{thing}如何{verb}？", f"请问怎样{verb}{thing}", f"{thing}怎么{verb}", f"我想{verb}{thing}，该怎么操作？",
            f"如何才能{verb}{thing}？", f"{verb}{thing}的方法是什么？", f"想{verb}{thing}要怎么办",
        )  # fmt: skip

    return Meaning(
        "actions",
        forms(does, what),
        (
            Altered("action_opposite", "contradiction", 1.0, forms(undoes, what)),
            Altered("action_object", "neutral", 1.5, forms(does, other)),
        ),
    )


def relations(rng: random.Random) -> Meaning:
    """Return who is whose: A是B的老师, B是A的学生."""
    one, other = _person_names(rng, 2)
    upper, lower = rng.choice(_CONVERSE.split("|")).split()

    def forms(a: str, b: str) -> Forms:
        return (f"{a}是{b}的{upper}", f"{b}是{a}的{lower}", f"{b}的{upper}是{a}", f"{a}的{lower}是{b}")

    return Meaning("relations", forms(one, other), [Altered("relation_swapped", "contradiction", 1.3, forms(other, one))])


def preferences(rng: random.Random) -> Meaning:
    """Return what somebody likes more: 比起A更喜欢B."""
    who = _names(rng, "person", 1)[0]
    kind = rng.choice(["fruit", "drink", "sport", "subject", "season", "colour", "language", "city"])
    one, other = rng.sample(tables.entities()[kind], 2)

    def forms(a: str, b: str) -> Forms:
        return (
            f"比起{b}，{who}更喜欢{a}", f"{who}更喜欢{a}，而不是{b}", f"{who}喜欢{a}胜过{b}", f"和{b}相比，{who}更爱{a}", f"{a}和{b}，{who}更喜欢{a}",
        )  # fmt: skip

    return Meaning("preferences", forms(one, other), [Altered("preference_swapped", "contradiction", 1.2, forms(other, one))])


def replacements(rng: random.Random) -> Meaning:
    """Return what stands in for what: 把A换成B, 用B代替A."""
    who = _names(rng, "person", 1)[0]
    one, other = rng.sample(tables.entities()[rng.choice(["product", "fruit", "drink", "colour"])], 2)

    def forms(old: str, new: str) -> Forms:
        return (f"{who}把{old}换成了{new}", f"{who}用{new}代替了{old}", f"{who}不要{old}了，换了{new}", f"{who}用{old}换来了{new}", f"{old}被{who}换成了{new}")

    return Meaning("replacements", forms(one, other), [Altered("replacement_swapped", "contradiction", 1.3, forms(other, one))])


def position(rng: random.Random) -> Meaning:
    """Return where one thing is from another: A在B的东边, B在A的西边."""
    one, other = rng.sample(_LANDMARKS, 2)
    side, back = rng.choice(_RELATIVE.split("|")).split()
    if rng.random() < 0.5:
        side, back = back, side

    def forms(a: str, b: str) -> Forms:
        return (f"{a}在{b}的{side}", f"{b}在{a}的{back}", f"{b}{side}是{a}", f"{a}{back}是{b}", f"{a}位于{b}{side}", f"{a}的{back}有{b}")

    return Meaning("position", forms(one, other), [Altered("position_swapped", "contradiction", 1.3, forms(other, one))])


def exceptions(rng: random.Random) -> Meaning:
    """Return who alone did not: 除了A，大家都来了, 只有A没来."""
    who, other = _names(rng, "person", 2)
    does, did = rng.choice(["来|来了", "同意|同意了", "报名|报名了", "迟到|迟到了", "及格|及格了", "下班|下班了", "签名|签名了", "投票|投票了", "参加|参加了"]).split("|")

    def forms(person: str) -> Forms:
        return (f"除了{person}，大家都{did}", f"只有{person}没{does}", f"大家都{did}，就{person}没有", f"没{does}的只有{person}", f"除{person}以外，所有人都{did}")

    only = (f"只有{who}{did}", f"除了{who}，大家都没{does}", f"大家都没{does}，就{who}{did}", f"{does}的只有{who}", f"除{who}以外，没有人{does}")
    return Meaning(
        "exceptions",
        forms(who),
        (Altered("exception_reversed", "contradiction", 1.0, only), Altered("exception_name", "contradiction", 1.6, forms(other))),
    )


def requests(rng: random.Random) -> Meaning:
    """Return who asked whom to do what: A让B去上海, B被A叫去上海."""
    one, other = _names(rng, "person", 2)
    what, another = rng.sample(_EVENTS, 2)

    def forms(a: str, b: str, task: str) -> Forms:
        return (f"{a}让{b}{task}", f"{a}叫{b}{task}", f"{a}要求{b}{task}", f"{b}被{a}要求{task}", f"要{b}{task}的是{a}")

    denied = (f"{one}不让{other}{what}", f"{one}没有叫{other}{what}", f"{one}不许{other}{what}", f"{other}没有被{one}要求{what}")
    return Meaning(
        "requests",
        forms(one, other, what),
        (
            Altered("request_swapped", "neutral", 1.4, forms(other, one, what)),
            Altered("request_negated", "contradiction", 1.0, denied),
            Altered("request_other", "neutral", 1.8, forms(one, other, another)),
        ),
    )


def things(rng: random.Random) -> Meaning:
    """Return a thing that somebody has, and a more general or other thing: 买了苹果, 买了水果."""
    who = _names(rng, "person", 1)[0]
    does, kinds = rng.choice(
        [("买", "水果 蔬菜 家具 电器 文具 衣服 首饰 乐器"), ("吃", "水果 蔬菜 零食"), ("养", "鸟 鱼"), ("学", "乐器 语言"), ("卖", "家具 电器 水果 衣服"), ("画", "动物 水果 鸟 花")]
    )
    general = rng.choice(kinds.split())
    words = [word for word, more in tables.hypernyms().items() if general in more]
    one, other = rng.sample(words, 2)

    def forms(thing: str) -> Forms:
        return (f"{who}{does}了{thing}", f"{who}{does}的是{thing}", f"是{thing}，{who}{does}的")

    return Meaning(
        "things",
        forms(one),
        (
            Altered("general_thing", "entailment", 3.4, forms(general)[:2]),
            Altered("other_thing", "neutral", 2.0, forms(other)),
            Altered("thing_negated", "contradiction", 1.0, (f"{who}没有{does}{one}", f"{who}没{does}{one}", f"{who}{does}的不是{one}")),
        ),
    )


_PATTERNS: tuple[Callable[[random.Random], Meaning], ...] = (
    roles, roles, roles, wins, transfers, comparisons, comparisons, routes, orders, causes, adverbials, amounts, permission,
    quantities, states, actions, actions, relations, preferences, replacements, position, exceptions, requests, things,
)  # fmt: skip


def _names(rng: random.Random, kind: str, count: int) -> list[str]:
    """Draw different names of a kind; persons with and without a title."""
    if kind == "person":
        return _person_names(rng, count) if rng.random() < 0.6 else rng.sample(tables.entities()["person"], count)
    names = rng.sample(tables.entities()[kind], count)
    if kind in ("product", "place", "animal", "fruit") and rng.random() < 0.4:
        which = {"product": "这款", "place": "那个", "animal": "那只", "fruit": "这家店的"}[kind]
        return [f"{which}{name}" for name in names]
    return names


def _person_names(rng: random.Random, count: int) -> list[str]:
    surnames = rng.sample(tables.entities()["surname"], count)
    way = rng.random()
    if way < 0.35:
        return [one + rng.choice(tables.entities()["given"]) for one in surnames]
    if way < 0.7:
        return ["小" + one for one in surnames]
    return [one + rng.choice(tables.entities()["title"]) for one in surnames]

