"""The page's wording: Chinese first, English beneath. Example texts are written for this page."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Wording(NamedTuple):
    """The same thing said in both languages."""

    zh: str
    en: str

    def label(self) -> str:
        """Return a label of two lines; the style sheet sets the first one larger."""
        return f"{self.zh}\n{self.en}"

    def filled(self, **values: str | int) -> Wording:
        """Fill in the blanks of both languages."""
        return Wording(self.zh.format(**values), self.en.format(**values))


class Notice(NamedTuple):
    """Why there is no result, and what to do."""

    problem: Wording
    remedy: Wording

    def filled(self, **values: str | int) -> Notice:
        """Fill in the blanks of both sentences."""
        return Notice(self.problem.filled(**values), self.remedy.filled(**values))


TITLE = Wording("中文 ALBERT 演示", "A small Chinese ALBERT, in your browser")
PROMISE = Wording(
    "模型就在这台电脑上运行，您输入的文字不会离开它。",
    "The models run on this computer; your text never leaves it.",
)

CLASSIFY_TAB = Wording("文本分类", "Text classification")
TEXT = Wording("要分类的文本", "Text to classify")
TEXT_PLACEHOLDER = "在这里输入一段中文，例如一条评论或一个新闻标题，结果会随着输入更新……"
MODEL = Wording("模型", "Model")
BOTH_MODELS = Wording("两个并排", "Both")
ALL_MODELS = Wording("全部并排", "All")
CLASSIFY = Wording("分类", "Classify · Enter")
CLEAR = Wording("清空", "Clear")
EXAMPLES = Wording("点一个例子试试", "Click an example")
REVIEWS = Wording("评论", "Reviews")
HEADLINES = Wording("新闻标题", "Headlines")
SENTENCES = Wording("句子", "Sentences")
PROBABILITIES = Wording("各类别的概率", "Probability of each class")
LATENCY = Wording("用时 {time}", "took {time}")
CHARACTERS_READ = Wording("读入 {count} 个字符", "{count} characters read")
OTHERS = Wording("其余 {count} 类合计", "the other {count} classes together")
WAITING = Notice(
    Wording("结果会显示在这里", "The result appears here"),
    Wording("输入文字，或点一个例子。", "Type something, or click an example."),
)

FILL_TAB = Wording("完形填空", "Fill in the blanks")
FILL_TEXT = Wording("一句话", "A sentence")
FILL_PLACEHOLDER = "在这里输入一句中文；想让模型猜的地方，点下面的词，或直接写 [MASK]……"
FILL_WORDS = Wording("点一个词，把它遮住", "Click a word to hide it")
FILL_NO_WORDS = Wording(
    "输入的句子会在这里按词分开。", "The sentence appears here, cut into words."
)
FILL = Wording("填空", "Fill · Enter")
FILLED = Wording("模型填好的句子", "The sentence as the model fills it")
GAP = Wording("第 {number} 处", "Blank {number}")
ORIGINAL = Wording("原词：{word}", "hidden: {word}")
GUESSED = Wording("猜中：{word}", "guessed: {word}")
MASKS = Wording("{count} 个 [MASK]", "{count} masks")
ORIGINAL_HERE = Wording("原词", "hidden word")
FILL_HINT = Wording(
    "概率按整个词表计算，所以这几项加起来不到 100%。几个字一起遮住时，每一步先填最有把握的一个字，"
    "再重读全句；概率是各步之积。",
    "Probabilities are over the whole vocabulary, so these do not sum to 100 %. Characters hidden "
    "together are filled one by one, the surest first, reading the sentence again each time; the "
    "product is shown.",
)
WORDS_HIDDEN = Wording("遮住了词", "Words are hidden")
MASKS_TYPED = Wording("写着 [MASK]", "With [MASK] typed")
FILL_WAITING = Notice(
    Wording("候选词会显示在这里", "Candidates appear here"),
    Wording("输入一句话，或点一个例子。", "Type a sentence, or click an example."),
)
FILL_EMPTY = Notice(
    Wording("请先输入一句话", "There is no sentence yet"),
    Wording("在左上方的框里输入，或点一个例子。", "Type into the box, or click an example."),
)
FILL_NOTHING_HIDDEN = Notice(
    Wording("还没有遮住的地方", "Nothing is hidden yet"),
    Wording(
        "点一个词把它遮住，或在句子里写 [MASK]，一个 [MASK] 代表一个字。",
        "Click a word to hide it, or write [MASK] in the sentence, one for each character.",
    ),
)
FILL_TOO_LONG = Notice(
    Wording(
        "文本有 {count} 个字符，这一页最多 {limit} 个",
        "The text has {count} characters; this tab takes up to {limit}",
    ),
    Wording(
        "请留下要填空的那几句，或在命令行里处理：zh-albert predict encoder 文件",
        "Keep the sentences around the blanks, or: zh-albert predict encoder FILE",
    ),
)
FILL_TOO_MANY = Notice(
    Wording("遮住了 {count} 处，一次最多猜 {limit} 处", "{count} blanks; up to {limit} at a time"),
    Wording(
        "请再点几个遮住的词，把它们放回去。", "Click some of the hidden words to put them back."
    ),
)
NO_ENCODER = Notice(
    Wording("还没有随附的预训练编码器", "No pretrained encoder is bundled yet"),
    Wording(
        "请先训练一个：zh-albert pretrain 配置.toml；其他几页现在就能用。",
        "Train one: zh-albert pretrain CONFIG.toml; the other tabs work already.",
    ),
)

ENTITIES_TAB = Wording("命名实体", "Named entities")
ENTITIES_TEXT = Wording("要找实体的文本", "Text to find entities in")
ENTITIES_PLACEHOLDER = "在这里输入一段中文，例如一条新闻，人名、地名、机构名会随着输入标出来……"
FIND = Wording("标出实体", "Find · Enter")
ENTITIES_FOUND = Wording("找到 {count} 个实体", "Entities found: {count}")
NO_ENTITIES = Wording("这段文字里没有找到实体。", "No entity was found in this text.")
ENTITY_LIST = Wording("逐个列出", "One by one")
ENTITY_COLUMNS = (
    Wording("文字", "text"),
    Wording("类型", "type"),
    Wording("位置", "position"),
    Wording("概率", "probability"),
)
ENTITY_JSON = Wording("程序得到的 JSON", "As JSON, for programs")
ENTITIES_LEFT_OUT = Wording(
    "这里只列出前 {shown} 个，还有 {rest} 个。",
    "The first {shown} are listed; {rest} more are not.",
)
ENTITIES_WAITING = Notice(
    Wording("实体会标在这里", "Entities appear here"),
    Wording("输入文字，或点一个例子。", "Type something, or click an example."),
)
EMPTY_ENTITIES = Notice(
    Wording("请先输入要找实体的文本", "There is no text yet"),
    Wording("在左上方的框里输入，或点一个例子。", "Type into the box, or click an example."),
)
ENTITIES_LONG = Notice(
    Wording("文本较长（{count} 个字符），不再边输入边标", "A long text ({count} characters)"),
    Wording(
        "请按“标出实体”按钮开始；可能要等几秒到几分钟，期间页面照常可用。",
        "Press Find; it can take seconds to minutes, and the page stays usable meanwhile.",
    ),
)
NO_TAGGER = Notice(
    Wording("还没有随附的实体模型", "No model for entities is bundled yet"),
    Wording(
        "请先训练一个：zh-albert finetune --task ner …；其他几页现在就能用。",
        "Train one: zh-albert finetune --task ner …; the other tabs work already.",
    ),
)

TRAINING_TAB = Wording("训练曲线", "Training curves")
TRAINING_TITLE = Wording("编码器是怎样学会的", "How the encoder learned")
TRAINING_HINT = Wording(
    "横轴是读过的词元数。每隔一段，用没见过的文本考一次：整词遮住，遮法每次相同。",
    "Across: tokens read. Now and then the encoder is examined on text it never saw, with whole "
    "words hidden, the same ones every time.",
)
TRAINED_ON = Wording("训练语料：{source}", "Trained on: {source}")
TOKENS_READ = Wording("读过的词元", "tokens read")
UPDATES = Wording("更新次数", "updates")
MASKED_ACCURACY = Wording("填空准确率", "Masked words guessed")
MASKED_ACCURACY_HINT = Wording(
    "遮住的字里，第一个候选就对的比例；词表有 {rows} 行。",
    "Share of hidden tokens that the first candidate hits, out of {rows} rows.",
)
MASKED_LOSS = Wording("填空损失", "Masked-LM loss")
MASKED_LOSS_HINT = Wording(
    "越低越好：现在平均相当于在 {choices} 个字里犹豫。",
    "Lower is better: at present like hesitating between {choices} equal choices.",
)
ORDER_ACCURACY = Wording("句序准确率", "Sentence order")
ORDER_ACCURACY_HINT = Wording(
    "两段文字有没有被对调，判断对的比例；乱猜是 50%（虚线）。",
    "Whether two passages were swapped; guessing gives 50 % (dashed).",
)
NUMBERS = Wording("看数字", "The numbers")
BROKEN_CURVE = Notice(
    Wording("训练记录读不出来：{reason}", "The record of training cannot be read: {reason}"),
    Wording("请重新取得编码器的文件夹。", "Get the encoder's folder again."),
)
NO_CURVE = Notice(
    Wording("这个编码器没有训练记录", "This encoder has no record of its training"),
    Wording(
        "缺少 curve.jsonl；zh-albert pretrain 训练出的文件夹里会有它。",
        "curve.jsonl is missing; a folder that zh-albert pretrain wrote has one.",
    ),
)

TOKENS_TAB = Wording("分词与遮盖", "Tokens and masks")
TOKENS_TEXT = Wording("要切分的文本", "Text to cut into tokens")
SEED = Wording("随机种子", "Seed of the random choice")
AGAIN = Wording("换一次", "Mask again")
TOKENS = Wording("词与词元", "Words and tokens")
TOKENS_HINT = Wording(
    "每个小格是一个词元，底色相同的一组是一个词；指着它可以看到编号和位置。",
    "Each box is a token, boxes of one tint are a word; point at one for its id and position.",
)
MASKED_TEXT = Wording("遮盖后的文本", "The text with masks")
MASKED_HINT = Wording(
    "预训练时约 15% 的词元按整词遮盖，模型要根据上下文把它们猜出来。",
    "Pretraining hides about 15 % of the tokens, by whole words; the model guesses them.",
)
LEGEND_WORD = Wording("一个词", "a word")
LEGEND_MASKED = Wording("将被遮盖", "would be masked")
LEGEND_UNKNOWN = Wording("词表里没有", "not in the vocabulary")
LEGEND_DROPPED = Wording("空格等不进模型的字符", "spaces and the like, not read")
CHARACTERS = Wording("字符", "characters")
TOKEN_COUNT = Wording("词元", "tokens")
WORD_COUNT = Wording("词", "words")
MASKED_SHARE = Wording("遮盖比例", "masked")
SHORTENED = Wording(
    "这里只画出前 {shown} 个字符（共 {total} 个）；上面的统计按全文计算。",
    "Only the first {shown} of {total} characters are drawn; the counts are of the whole text.",
)

EMPTY = Notice(
    Wording("请先输入要分类的文本", "There is no text yet"),
    Wording("在左上方的框里输入，或点一个例子。", "Type into the box, or click an example."),
)
EMPTY_TOKENS = Notice(
    Wording("请先输入要切分的文本", "There is no text yet"),
    Wording("在上面的框里输入一段文字。", "Type into the box above."),
)
NOTHING_TO_READ = Notice(
    Wording("这段文本里没有模型能读的字符", "Nothing in this text can be read by the model"),
    Wording(
        "它只有空格或控制字符；请输入汉字、字母、数字或标点。",
        "It is only spaces or control characters; type characters, letters or digits.",
    ),
)
TOO_LONG = Notice(
    Wording(
        "文本有 {count} 个字符，超过了网页的上限 {limit} 个",
        "The text has {count} characters; this page takes up to {limit}",
    ),
    Wording(
        "请截取一部分，或在命令行里处理整个文件：zh-albert predict 模型 文件",
        "Take a part of it, or use the command line: zh-albert predict MODEL FILE",
    ),
)
LONG = Notice(
    Wording("文本较长（{count} 个字符），不再边输入边分类", "A long text ({count} characters)"),
    Wording(
        "请按“分类”按钮开始；可能要等几秒到几分钟，期间页面照常可用。",
        "Press Classify; it can take seconds to minutes, and the page stays usable meanwhile.",
    ),
)
WORKING = Notice(
    Wording("正在读 {count} 个字符……", "Reading {count} characters …"),
    Wording(
        "结果出来前，可以照常输入别的文字，或看别的页。",
        "Until the answer comes, type something else or look at another tab.",
    ),
)
NO_MODELS = Notice(
    Wording("还没有随附的分类模型", "No classification model is bundled yet"),
    Wording(
        "请先训练一个：zh-albert finetune --task classification …；“分词与遮盖”一页现在就能用。",
        "Train one: zh-albert finetune --task classification …; “Tokens and masks” works already.",
    ),
)
FAILED = Notice(
    Wording("没能完成：{reason}", "It did not work: {reason}"),
    Wording("请换一段文本再试；若仍然如此，请重新启动演示。", "Try another text, then a restart."),
)

MODELS: Mapping[str, Wording] = MappingProxyType(
    {
        "sentiment": Wording("情感", "Sentiment"),
        "news": Wording("新闻", "News"),
    }
)

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "positive": "好评",
        "negative": "差评",
        "news_story": "故事",
        "news_culture": "文化",
        "news_entertainment": "娱乐",
        "news_sports": "体育",
        "news_finance": "财经",
        "news_house": "房产",
        "news_car": "汽车",
        "news_edu": "教育",
        "news_tech": "科技",
        "news_military": "军事",
        "news_travel": "旅游",
        "news_world": "国际",
        "news_stock": "股票",
        "news_agriculture": "三农",
        "news_game": "游戏",
    }
)

ENTITY_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "address": "地址",
        "book": "书名",
        "company": "公司",
        "game": "游戏",
        "government": "政府",
        "movie": "影视",
        "name": "人名",
        "organization": "组织",
        "position": "职位",
        "scene": "景点",
        "PER": "人名",
        "LOC": "地名",
        "ORG": "机构",
        "GPE": "行政区",
    }
)

REVIEW_EXAMPLES = (
    "房间比照片上还要宽敞，窗外就是江景，前台小姑娘特别热心，下次来还住这家。",
    "等了一个半小时才送到，汤洒了一半，打电话过去态度还很差，再也不会点了。",
    "书的内容不错，可惜纸张太薄，翻几页就皱了，对不起这个价钱。",
    "键盘手感很好，用了两周没出过毛病，就是风扇声音稍微大了点，总体满意。",
)
HEADLINE_EXAMPLES = (
    "央行宣布下调存款准备金率，专家：利好中小企业融资",
    "主场球迷欢呼到深夜，小将加时绝杀助球队闯进四强",
    "续航突破七百公里，这款国产电动轿车下月开始交付",
    "春耕时节走进山村，合作社的无人机一天播种三百亩",
)
ENTITY_EXAMPLES = (
    "浙江大学计算机学院的王教授上周到杭州市西湖区考察了一家做机器人的公司。",
    "中国足协宣布，前锋李小明将缺席在上海体育场举行的下一场比赛。",
    "导演林海生的新片《长城谣》将于十月在北京首映，由星河影业负责发行。",
    "市财政局局长张伟介绍，故宫和颐和园今年的门票收入将用于修缮。",
)
TOKENS_EXAMPLE = "今天在杭州西湖边喝了一杯龙井茶，朋友用 iPhone 拍了 36 张照片，好开心😀！"
# What is hidden at first stands in 【】.
HIDDEN_EXAMPLES = (
    "周末天气很好，我们一家人去【公园】里散步。",
    "老师走进【教室】，大家马上安静下来，打开了【课本】。",
    "他从小就喜欢【唱歌】，长大以后真的成了一名歌手。",
)
MASK_EXAMPLES = (
    "中国的首都是[MASK][MASK]，最长的河流是长江。",
    "这部电影太无聊了，看到一半我就睡[MASK]了。",
)
