"""Alters the skin weights of a baked GLB: a share of every vertex's second weight goes to its first. What judges skins must notice.

usage: python skin_tamper.py IN.glb OUT.glb SHARE

Weights must be numbers of single precision without strides between them, as `sinew bake skin` writes them.
"""

import json
import struct
import sys

import numpy as np

FLOAT = 5126


def main():
    source, out, share = sys.argv[1], sys.argv[2], float(sys.argv[3])
    content = bytearray(open(source, "rb").read())
    (length,) = struct.unpack_from("<I", content, 12)
    document = json.loads(content[20 : 20 + length])
    binary = 20 + length + 8
    changed = 0
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            accessor = document["accessors"][primitive["attributes"]["WEIGHTS_0"]]
            view = document["bufferViews"][accessor["bufferView"]]
            if accessor["componentType"] != FLOAT or view.get("byteStride", 16) != 16:
                sys.exit(f"{source}: weights that are no plain numbers")
            at = binary + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
            weights = np.frombuffer(content, "<f4", accessor["count"] * 4, at).reshape(-1, 4).copy()
            moved = weights[:, 1] * np.float32(share)
            weights[:, 1] -= moved
            weights[:, 0] += moved
            content[at : at + weights.nbytes] = weights.tobytes()
            changed += int(np.count_nonzero(moved))
    with open(out, "wb") as file:
        file.write(content)
    print(f"{out}: weights of {changed} vertices altered")


if __name__ == "__main__":
    main()
