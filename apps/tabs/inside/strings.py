"""The strings of the tab that looks into the encoders."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class InsideStrings(TabStrings):
    """The strings of the tab that looks into the encoders."""

    text: str
    text_placeholder: str
    overview: str
    overview_hint: str
    layer: str
    head: str
    layer_short: str
    mean_head: str
    mean_short: str
    attention: str
    attention_hint: str
    scale: str
    weight: str
    to_itself: str
    to_neighbours: str
    to_special: str
    to_others: str
    map_about: str
    movement: str
    movement_hint: str
    distance: str
    distance_hint: str
    angle: str
    angle_hint: str
    bands: str
    shared: str
    shared_groups: str
    shared_partly: str
    unshared: str
    untrained: str
    untrained_short: str
    no_unshared: str
    has_unshared: str
    columns: tuple[str, str, str, str, str]
    waiting: Notice
    too_long: Notice


CHINESE = InsideStrings(
    page=page.CHINESE,
    tab="模型内部",
    text="要看的文本",
    text_placeholder="在这里输入一句中文，看模型的每一层怎样读它……",
    overview="每一层、每个头",
    overview_hint="每个小图是一个头的注意力；点一下放大，也可以用方向键切换。第一列是这一层各头的平均。",
    layer="第 {layer} 层",
    head="第 {head} 头",
    layer_short="层 {layer}",
    mean_head="各头平均",
    mean_short="平均",
    attention="谁在看谁",
    attention_hint="一行是一个字在看，一列是被看的字；颜色越浓，看得越多。鼠标停在一格上可以看到数值。",
    scale="注意力",
    weight="“{row}”看“{column}”",
    to_itself="看自己",
    to_neighbours="看前后一个",
    to_special="看 [CLS]、[SEP]",
    to_others="看其余的字",
    map_about="注意力图，{layer}，{head}，{count} 个词元",
    movement="每一层使输入改变了多少",
    movement_hint="仿 ALBERT 论文的图 1：一层的输出与输入相比，对这段文本的全部词元取平均。",
    distance="L2 距离",
    distance_hint="输出与输入相距多远。",
    angle="夹角（度）",
    angle_hint="余弦相似度换成角度：0° 是方向没变。",
    bands="在所选模型（粗线）里，底色连成一块的相邻层用同一组参数。",
    shared="{layers} 层共用一组参数",
    shared_groups="{layers} 层，{groups} 组参数",
    shared_partly="{layers} 层，{attention} 组注意力参数，{ffn} 组前馈参数",
    unshared="{layers} 层，参数不共享",
    untrained="同样大小，参数不共享，没有训练",
    untrained_short="随机权重",
    no_unshared=(
        "手头的模型都共享参数。虚线是同样大小、参数不共享的网络，权重是随机的，没有训练过，只能作参照；"
        "要与训练过的不共享模型比较，请在启动时给出它的文件夹：zh-albert demo 文件夹"
    ),
    has_unshared="参数不共享的模型画成虚线。",
    columns=("模型", "层", "L2 距离", "夹角", "余弦"),
    waiting=Notice("注意力和每层带来的改变会画在这里", "输入一句话，或点一个例子。"),
    too_long=Notice(
        "这段文本有 {count} 个词元，这一页最多画 {limit} 个", "请只留下一两句话，图才看得清。"
    ),
)


ENGLISH = InsideStrings(
    page=page.ENGLISH,
    tab="Inside the model",
    text="Text to look at",
    text_placeholder="Type a sentence in Chinese to see how each layer reads it …",
    overview="Every layer, every head",
    overview_hint=(
        "Each small picture is a head's attention; click one to enlarge it, or use the arrow keys. "
        "The first column is the mean of a layer's heads."
    ),
    layer="Layer {layer}",
    head="Head {head}",
    layer_short="L{layer}",
    mean_head="Mean of all heads",
    mean_short="mean",
    attention="Who looks at whom",
    attention_hint=(
        "A row is a character that looks, a column one that is looked at; more colour is more. "
        "Point at a cell for its number."
    ),
    scale="Attention",
    weight="“{row}” at “{column}”",
    to_itself="at itself",
    to_neighbours="at its neighbours",
    to_special="at [CLS], [SEP]",
    to_others="at all others",
    map_about="Attention, {layer}, {head}, {count} tokens",
    movement="How far each layer moves its input",
    movement_hint=(
        "After figure 1 of the ALBERT paper: a layer's output against its input, mean over all "
        "tokens of this text."
    ),
    distance="L2 distance",
    distance_hint="How far the output is from the input.",
    angle="Angle (degrees)",
    angle_hint="Cosine similarity as an angle: at 0° the direction is unchanged.",
    bands="In the model chosen (thick), layers on the same ground run the same parameters.",
    shared="{layers} layers share one set of parameters",
    shared_groups="{layers} layers, {groups} sets of parameters",
    shared_partly="{layers} layers; sets of attention: {attention}, of feed-forward: {ffn}",
    unshared="{layers} layers, nothing shared",
    untrained="same size, nothing shared, not trained",
    untrained_short="Random weights",
    no_unshared=(
        "All models at hand share parameters. Dashed: a network of the same size that shares "
        "nothing, with random weights, not trained; no more than a reference. To compare with a "
        "trained unshared model, give its folder at start: zh-albert demo FOLDER"
    ),
    has_unshared="Models that share nothing are dashed.",
    columns=("model", "layer", "L2 distance", "angle", "cosine"),
    waiting=Notice(
        "Attention and movement are drawn here", "Type a sentence, or click an example."
    ),
    too_long=Notice(
        "This text has {count} tokens; this tab draws up to {limit}",
        "Keep a sentence or two, so that the picture stays readable.",
    ),
)
