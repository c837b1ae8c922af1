"""Pictures as PNG, data URIs and heat maps."""

import re
import unicodedata
import warnings
from base64 import b64encode
from io import BytesIO
from math import ceil
from pathlib import Path

import numpy as np

from .validation import InputError, MissingFileError, as_array, check_integer, require, shown

SEQUENTIAL = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
DIVERGING = ("#134b73", "#2f84bc", "#8fc1e3", "#ffffff", "#fdbf7d", "#e8801a", "#8f4407")
N_SHADES = 255  # the last byte, 255, stands for "no value"
_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}


def png_bytes(image):
    "A grey picture as a PNG file, stretched so that its largest number is 255."
    from PIL import Image

    image, file = np.asarray(image, dtype=float), BytesIO()
    pixels = (255 * image / (image.max() or 1)).clip(0, 255).round().astype(np.uint8)
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "PNG", optimize=True)
    return file.getvalue()


def read_png(data):
    "The grey values of a PNG; a colour of a palette counts as the mean of its three parts."
    from PIL import Image

    rule = "a grey or palette PNG of at most 8 bits"
    try:
        with Image.open(BytesIO(data), formats=["PNG"]) as image:
            require(image.mode in ("1", "L", "P"), "image", rule, f"one with pixels of kind {image.mode}")
            pixels = np.array(image).astype(np.uint8) * (255 if image.mode == "1" else 1)
            palette = image.getpalette("RGB") if image.mode == "P" else None
    except (OSError, SyntaxError) as error:
        raise InputError(f"image must be {rule}; got {shown(data[:12])}, which cannot be read ({error})") from None
    return pixels if palette is None else np.reshape(palette, (-1, 3)).mean(axis=1)[pixels].astype(np.uint8)


def data_uri(image):
    "A picture (a path, bytes or a data URI) as a data URI. Raises `InputError`; `MissingFileError` for a lost path."
    if isinstance(image, str) and image.startswith("data:image/"):
        return image
    name, rule = "each of images", "a path, the bytes of a PNG, JPEG or GIF file, or a data URI of an image"
    require(isinstance(image, (str, bytes, Path)), name, rule, image)
    if not isinstance(image, bytes):
        if not Path(image).is_file():
            raise MissingFileError(f"{name} must be {rule}; got {shown(image)}, where no file is")
        image = Path(image).read_bytes()
    kind = next((kind for start, kind in _SIGNATURES.items() if image.startswith(start)), None)
    require(kind is not None, name, rule, image[:12])
    return f"data:image/{kind};base64,{b64encode(image).decode()}"


def check_image_folder(folder):
    "Refuse a folder that is none or has broken pictures, before long work. Raises `InputError`."
    from PIL import Image

    if not Path(folder).is_dir():
        raise MissingFileError(f"--images must be an existing folder; got {str(folder)!r}")
    endings = Image.registered_extensions()
    for path in sorted(Path(folder).iterdir()):
        if path.is_file() and path.suffix.lower() in endings:
            _small_copy(path, None)


def images_from_folder(folder, names, side=160):
    "({name: data URI}, names without a picture, other files): small copies of pictures named as objects are."
    check_image_folder(folder)
    known, found, others = set(names), {}, []
    last_parts = [re.split(r"[\\/]", name)[-1] for name in names]
    by_last_part = {last: name for last, name in zip(last_parts, names) if last_parts.count(last) == 1}
    by_last_part = {Path(last).stem: name for last, name in by_last_part.items()} | by_last_part
    for path in sorted(path for path in Path(folder).iterdir() if path.is_file() and not path.name.startswith(".")):
        file = unicodedata.normalize("NFC", path.name)
        name = next((text for text in (Path(file).stem, file) if text in known), None)
        name = by_last_part.get(file, by_last_part.get(Path(file).stem)) if name is None else name
        if name is None:
            others.append(path.name)
            continue
        require(name not in found, "--images", "a folder with one picture per object", path.name)
        found[name] = data_uri(_small_copy(path, side))
    return {name: found[name] for name in names if name in found}, [n for n in names if n not in found], others


def _small_copy(path, side):
    "A picture as PNG or JPEG whose sides are at most `side`; None reads its head only."
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():  # large pictures are no warning; Pillow refuses what is too large
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(path)
        with image:
            if side is None:
                return None
            image.draft("RGB", (2 * side, 2 * side))  # a JPEG is read small: much faster
            copy, file = ImageOps.exif_transpose(image), BytesIO()
            copy.thumbnail((side, side))
            clear = "A" in copy.getbands() or "transparency" in copy.info
            copy.convert("RGBA" if clear else "RGB").save(file, "PNG" if clear else "JPEG", quality=85)
            return file.getvalue()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"--images must hold pictures; {path.name} cannot be read ({error})") from None


def matrix_png(matrix, low, high, scale=(1, 1), colors=SEQUENTIAL):
    "A matrix as a data URI of a coloured PNG, each cell repeated `scale` times; NaN is transparent."
    from PIL import Image

    cells, file = shades(matrix, low, high).repeat(scale[0], axis=0).repeat(scale[1], axis=1), BytesIO()
    stops = np.array([[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in colors])
    at = np.linspace(0, len(colors) - 1, N_SHADES)
    palette = np.column_stack([np.interp(at, np.arange(len(colors)), part) for part in stops.T]).round()
    image = Image.fromarray(np.ascontiguousarray(cells), "L")
    image.putpalette([*palette.astype(np.uint8).ravel().tolist(), 255, 255, 255], "RGB")
    image.save(file, "PNG", optimize=True, transparency=N_SHADES)
    return data_uri(file.getvalue())


def shades(matrix, low, high):
    "Every number as one of 255 shades, NaN as the last byte."
    share = ((np.asarray(matrix, dtype=float) - low) / ((high - low) or 1)).clip(0, 1)
    return np.where(np.isnan(share), N_SHADES, (share * (N_SHADES - 1)).round()).astype(np.uint8)


def matrix_range(matrix, centre=None):
    "The range of a matrix, NaN apart; symmetric about `centre` where one is given."
    finite = matrix[np.isfinite(matrix)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if centre is not None:
        reach = max(high - centre, centre - low)
        low, high = centre - reach, centre + reach
    return (low, high) if high > low else (low, low + 1)


def heat_map(
    matrix, title=None, width=170, height=None, low=None, high=None, centre=None, colors=None,
    x_title="object j", y_title="object i", legend_title=None, legend=True,
):  # fmt: skip
    "A matrix as an Altair chart with axes and a scale of colours. Raises `InputError`."
    import altair as alt

    rule = "a matrix (H, W) of numbers with H, W ≥ 1"
    matrix = as_array(matrix, "matrix", rule, float)
    require(matrix.ndim == 2 and matrix.size > 0, "matrix", rule, matrix)
    require(not np.isinf(matrix).any(), "matrix", "without infinite numbers", matrix)
    rows, columns = matrix.shape
    width = check_integer(width, "width")
    height = max(1, round(width * rows / columns)) if height is None else check_integer(height, "height")
    least, most = matrix_range(matrix, centre)
    low, high = least if low is None else low, most if high is None else high
    require(low < high, "low", f"under high = {high}", low)
    colors = colors or (SEQUENTIAL if centre is None else DIVERGING)
    scale = [max(1, ceil(2 * pixels / cells)) for pixels, cells in ((height, rows), (width, columns))]
    place = {"url": matrix_png(matrix, low, high, scale, colors), "i": -0.5, "j": -0.5}
    x = alt.X("j:Q", title=x_title, scale=alt.Scale(domain=[-0.5, columns - 0.5], nice=False, zero=False))
    y = alt.Y("i:Q", title=y_title, scale=alt.Scale(domain=[-0.5, rows - 0.5], reverse=True, nice=False, zero=False))
    axis = alt.Axis(grid=False, tickMinStep=1, format="d", tickCount=6)
    box = dict(width=width, height=height, aspect=False, align="left", baseline="top", aria=False)
    picture = alt.Chart(alt.InlineData(values=[place])).mark_image(**box)
    picture = picture.encode(x.axis(axis), y.axis(axis), alt.Url("url:N"))
    stops = np.linspace(low, high, len(colors)).tolist()
    color_scale = alt.Scale(domain=stops, range=list(colors), interpolate="rgb", type="linear")
    middle = [] if centre is None else [float(centre)]
    digits = ",.0f" if max(abs(low), abs(high)) >= 1000 else ".3~g"  # 1,150 instead of 1.15e+3
    bar = alt.Legend(title=legend_title, values=[low, *middle, high], format=digits, gradientLength=min(120, height))
    color = alt.Color("value:Q", scale=color_scale, legend=bar if legend else None)
    ends = alt.Chart(alt.InlineData(values=[{"i": 0, "j": 0, "value": end} for end in (low, high)]))
    legend_layer = ends.mark_square(opacity=0, size=0, aria=False).encode(alt.X("j:Q"), alt.Y("i:Q"), color)
    chart = alt.layer(picture, legend_layer).properties(width=width, height=height)
    return chart if title is None else chart.properties(title=title)
