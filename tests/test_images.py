"Pictures: PNG there and back, data URIs, shades, heat maps."

import json
import struct
import zlib
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest

from comparison_hc.core.images import (
    DIVERGING,
    N_SHADES,
    SEQUENTIAL,
    data_uri,
    heat_map,
    matrix_png,
    png_bytes,
    read_png,
    shades,
)
from comparison_hc.core.validation import InputError, MissingFileError


def file_of(values, depth, palette=None):
    "A PNG written by hand, of 1 to 8 bits a pixel, no filters: what the reader must understand."
    values = np.asarray(values)
    height, width = values.shape
    bits = (values[:, :, None] >> np.arange(depth)[::-1] & 1).reshape(height, -1)
    rows = np.hstack([np.zeros((height, 1), np.uint8), np.packbits(bits.astype(np.uint8), axis=1)])
    part = lambda tag, data: struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    head = struct.pack(">IIBBBBB", width, height, depth, 3 if palette else 0, 0, 0, 0)
    colours = part(b"PLTE", bytes(palette)) if palette else b""
    body = part(b"IDAT", zlib.compress(rows.tobytes()))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + colours + body + part(b"IEND", b"")


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("seed", range(5))
def test_grey_of_any_depth(depth, seed):
    rng = np.random.default_rng([depth, seed])
    values = rng.integers(0, 2**depth, rng.integers(1, 30, 2))
    assert np.array_equal(read_png(file_of(values, depth)), values * 255 // (2**depth - 1))


def test_palettes():
    values = [[0, 1, 1], [1, 0, 1]]
    assert read_png(file_of(values, 1, [255, 255, 255, 0, 0, 0])).tolist() == [[255, 0, 0], [0, 255, 0]]
    assert read_png(file_of([[0, 1]], 8, [10, 20, 30, 0, 0, 255])).tolist() == [[20, 85]]


@pytest.mark.parametrize("seed", range(10))
def test_png_there_and_back(seed):
    rng = np.random.default_rng(seed)
    image = rng.normal(10, 5, rng.integers(1, 20, 2)).clip(0)
    pixels = (255 * image / image.max()).round().astype(np.uint8)
    assert np.array_equal(read_png(png_bytes(image)), pixels)


def test_colour_is_not_grey():
    from PIL import Image

    file = BytesIO()
    Image.fromarray(np.zeros((3, 4, 3), np.uint8)).save(file, "PNG")
    with pytest.raises(InputError, match="^image must be a grey or palette PNG"):
        read_png(file.getvalue())


@pytest.mark.parametrize("data", [b"", b"no picture", b"GIF89a", file_of(np.eye(9, dtype=int), 8)[:45]])
def test_no_picture_is_an_input_error(data):
    with pytest.raises(InputError, match="^image must be"):
        read_png(data)


def test_data_uris(tmp_path):
    data = png_bytes(np.eye(2))
    (tmp_path / "a.png").write_bytes(data)
    address = data_uri(data)
    assert address.startswith("data:image/png;base64,") and b64decode(address.split(",")[1]) == data
    assert data_uri(tmp_path / "a.png") == data_uri(str(tmp_path / "a.png")) == data_uri(address) == address
    with pytest.raises(MissingFileError):
        data_uri(tmp_path / "b.png")
    for bad in (b"text", 3, None, "data:text/plain,x"):
        with pytest.raises(InputError, match="^each of images must be"):
            data_uri(bad)


def test_shades():
    assert shades([-1, 0, 0.5, 1, 2, np.nan], 0, 1).tolist() == [0, 0, 127, 254, 254, N_SHADES]
    assert shades([3, 3], 3, 3).tolist() == [0, 0]


@pytest.mark.parametrize("colors", [SEQUENTIAL, DIVERGING])
def test_a_matrix_as_pixels(colors):
    from PIL import Image

    picture = Image.open(BytesIO(b64decode(matrix_png([[0, 1, np.nan]], 0, 1, (2, 3), colors).split(",")[1])))
    pixels = np.array(picture.convert("RGBA"))
    assert pixels.shape == (2, 9, 4) and pixels[0, :, 3].tolist() == 6 * [255] + 3 * [0]  # no value is transparent
    assert ["#" + "".join(f"{part:02x}" for part in pixels[0, at, :3]) for at in (0, 5)] == [colors[0], colors[-1]]


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (240, 240)])
def test_heat_maps_render(shape):
    import vl_convert

    matrix = np.random.default_rng(0).normal(size=shape)
    matrix.flat[0] = np.nan
    for choices in ({}, dict(centre=0, legend=False), dict(low=-1, high=1, title="T", height=50)):
        spec = heat_map(matrix, **choices).to_dict()
        assert vl_convert.vegalite_to_svg(json.dumps(spec)).startswith("<svg")
        assert [layer["mark"]["type"] for layer in spec["layer"]] == ["image", "square"]


def test_a_heat_map_has_axes_and_a_centre():
    spec = heat_map([[1.0, -3.0]], centre=0, x_title="column", y_title="row").to_dict()
    picture, scale = (layer["encoding"] for layer in spec["layer"])
    assert (picture["x"]["title"], picture["y"]["title"]) == ("column", "row")
    domain = scale["color"]["scale"]["domain"]
    assert (domain[0], domain[-1]) == (-3, 3) and scale["color"]["scale"]["range"] == list(DIVERGING)


@pytest.mark.parametrize("matrix", [[1, 2], [], [[]], [["a"]], [[np.inf]], None])
def test_bad_matrices(matrix):
    with pytest.raises(InputError, match="^matrix must be"):
        heat_map(matrix)


@pytest.mark.parametrize("argument, choices", [("width", [0]), ("height", [0]), ("low", [2, 1])])
def test_bad_choices(argument, choices):
    with pytest.raises(InputError, match=f"^{argument} must be"):
        heat_map(np.eye(2), **dict(zip((argument, "high"), choices)))
