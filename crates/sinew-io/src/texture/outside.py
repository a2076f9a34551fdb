"""Other programs' readers and writers, for `tests.rs`: numpy, Pillow, pypng, OpenEXR.

`outside.py read FOLDER`: compares each texture that `list.txt` names with the numbers beside it (`NAME.bin`).
`outside.py write FOLDER`: writes textures and the numbers that a reader must find in them, and the list.

A line of the list: file, type of a number, width, height, names of channels.
"""

import pathlib
import sys

import numpy as np
import OpenEXR
import PIL.Image
import png

# Pillow makes 16-bit colour 8-bit; pypng keeps what is stored.
MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def read_png(path, kind):
    width, height, rows, info = png.Reader(filename=str(path)).read()
    assert "gamma" not in info, f"{path}: {info}"
    numbers = np.array([np.asarray(row) for row in rows], dtype=kind)
    if kind == "uint8":
        image = PIL.Image.open(path)
        assert image.mode == MODES[info["planes"]], image.mode
        assert set(image.info) == set(), image.info
        assert np.array_equal(np.asarray(image).reshape(numbers.shape), numbers)
    return numbers.reshape(height, width, info["planes"])


def read_exr(path, kind, names):
    with OpenEXR.File(str(path), separate_channels=True) as file:
        channels = file.channels()
        assert sorted(channels) == sorted(names), f"{path}: {list(channels)}"
        assert list(channels) == sorted(names), f"{path}: order {list(channels)}"
        return np.stack([channels[name].pixels for name in names], axis=-1)


def read(folder):
    for line in (folder / "list.txt").read_text().splitlines():
        name, kind, width, height, *names = line.split()
        path = folder / name
        expected = np.fromfile(f"{path}.bin", dtype=kind).reshape(int(height), int(width), len(names))
        found = read_png(path, kind) if name.endswith(".png") else read_exr(path, kind, names)
        assert found.dtype == np.dtype(kind) and found.shape == expected.shape, f"{name}: {found.dtype} {found.shape}"
        assert found.tobytes() == expected.tobytes(), f"{name} differs"
        print("read", line)


def write_exr(path, numbers, names, header):
    channels = {name: np.ascontiguousarray(numbers[..., k]) for k, name in enumerate(names)}
    with OpenEXR.File(header, channels) as file:
        file.write(str(path))


def write(folder):
    random = np.random.default_rng(7)
    width, height = 37, 35
    lines = []

    def add(name, numbers, names):
        stored = numbers.astype("float32") if name.endswith(".exr") else numbers
        stored.tofile(f"{folder / name}.bin")
        lines.append(" ".join([name, str(stored.dtype), str(numbers.shape[1]), str(numbers.shape[0]), *names]))

    for names in ["Y", "RGB", "RGBA"]:
        shape = (height, width, len(names))
        for bits, kind in [(8, "uint8"), (16, "uint16")]:
            for interlaced in [False, True]:
                codes = random.integers(0, 2**bits, shape, dtype=kind)
                name = f"pypng_{names}_{bits}_{interlaced}.png"
                writer = png.Writer(width, height, greyscale=names == "Y", alpha="A" in names, bitdepth=bits, interlace=interlaced)
                with open(folder / name, "wb") as file:
                    rows = codes.reshape(height, -1)
                    writer.write_array(file, rows.flatten().tolist()) if interlaced else writer.write(file, rows.tolist())
                add(name, codes, names)
        codes = random.integers(0, 256, shape, dtype="uint8")
        image = PIL.Image.fromarray(codes.squeeze(-1) if names == "Y" else codes)
        image.save(folder / f"pillow_{names}.png")
        add(f"pillow_{names}.png", codes, names)
    packings = {"none": OpenEXR.NO_COMPRESSION, "rle": OpenEXR.RLE_COMPRESSION, "zips": OpenEXR.ZIPS_COMPRESSION}
    packings |= {"zip": OpenEXR.ZIP_COMPRESSION, "piz": OpenEXR.PIZ_COMPRESSION}
    for label, packing in packings.items():
        for kind in ["float16", "float32"]:
            # Smooth, so that packing has something to do, and noise in one channel.
            across = np.linspace(-2, 3, width)[None, :, None] * np.linspace(1, 2, height)[:, None, None]
            numbers = (across * np.array([1.0, -0.5, 1e-3, 7.0])).astype(kind)
            numbers[..., 1] = random.normal(size=(height, width)).astype(kind)
            numbers[0, 0] = [-0.0, np.inf, 1e-7, -65504.0]
            name = f"openexr_{label}_{kind}.exr"
            write_exr(folder / name, numbers, list("RGBA"), {"compression": packing, "type": OpenEXR.scanlineimage})
            add(name, numbers, list("RGBA"))
            name = f"openexr_tiled_{label}_{kind}.exr"
            tiles = OpenEXR.TileDescription()
            tiles.xSize, tiles.ySize = 16, 8
            write_exr(folder / name, numbers, list("RGBA"), {"compression": packing, "type": OpenEXR.tiledimage, "tiles": tiles})
            add(name, numbers, list("RGBA"))
    (folder / "list.txt").write_text("\n".join(lines) + "\n")


{"read": read, "write": write}[sys.argv[1]](pathlib.Path(sys.argv[2]))
