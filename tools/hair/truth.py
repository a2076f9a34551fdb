"""How deep points are in solids, in double precision: closed forms, and meshes of triangles.

Each function takes points (n, 3) in metres and returns depths (n,) in metres, positive inside. Nothing of Sinew is used.
"""

import numpy as np
from scipy.spatial import cKDTree


def ball(points, centre, radius):
    """Depth in a ball."""
    return radius - np.linalg.norm(points - centre, axis=1)


def round_cone(points, start, end, start_radius, end_radius):
    """Depth in the hull of two balls."""
    axis = np.asarray(end, float) - start
    length = np.linalg.norm(axis)
    axis /= length
    along = (points - start) @ axis
    across = np.linalg.norm(points - start - along[:, None] * axis, axis=1)
    slope = (start_radius - end_radius) / length
    foot = np.clip(along - across * slope / np.sqrt(1 - slope * slope), 0, length)
    radius = start_radius + (end_radius - start_radius) * foot / length
    return radius - np.hypot(across, along - foot)


def well(points, radius, depth):
    """Depth in the half space y < 0 with a round well; 0 outside."""
    y = points[:, 1]
    beside = np.hypot(points[:, 0], points[:, 2]) - radius
    solid = (y < 0) & ((beside > 0) | (y < -depth))
    to_well = np.hypot(np.maximum(beside, 0), np.maximum(-depth - y, 0))
    return np.where(solid, np.minimum(-y, to_well), 0.0)


class MeshTruth:
    """Triangles as a solid: inside is where they wind around a point more than half a time."""

    # Triangles near a point that are measured exactly.
    NEAR = 24

    def __init__(self, positions, triangles):
        corners = np.asarray(positions, np.float64)[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(normals, axis=1)
        self.corners = corners[size > 0]
        self.normals = normals[size > 0] / size[size > 0, None]
        self.pieces, self.owner, self.reach = _pieces(self.corners)
        self.tree = cKDTree(self.pieces)

    def depths(self, strands):
        """Depths (s, m) of points along strands (s, m, 3), root first; 0 outside."""
        points = strands.reshape(-1, 3)
        distance, sure, outside = self._nearest(points)
        side = np.where(sure & outside, 0, -1).reshape(strands.shape[:2])
        distance = distance.reshape(side.shape)
        self._sides(strands, distance, side)
        out = np.zeros(side.shape)
        out[side == 1] = [self.distance(point) for point in strands[side == 1]]
        return out

    def distance(self, point):
        """Exact distance of a point (3,) to the triangles."""
        far, _ = self.tree.query(point)
        near = np.unique(self.owner[self.tree.query_ball_point(point, far + self.reach)])
        return _to_triangles(point, self.corners[near], self.normals[near])[0].min()

    def _nearest(self, points):
        """Distances, which of them are exact, and which points are outside for each of their nearest triangles.

        Other distances are lower bounds.
        """
        count = min(self.NEAR, len(self.pieces))
        found, index = self.tree.query(points, count)
        distance = np.maximum(found[:, 0] - self.reach, 0)
        sure, outside = np.zeros(len(points), bool), np.zeros(len(points), bool)
        near = np.flatnonzero(found[:, 0] < 6 * self.reach)
        for part in np.array_split(near, len(near) // 20000 + 1):
            triangles = self.owner[index[part]]
            exact, side = _to_triangles(points[part, None], self.corners[triangles], self.normals[triangles])
            least = exact.min(axis=1)
            # No other triangle is nearer than this.
            others = found[part, -1] - self.reach
            distance[part] = np.minimum(least, others)
            sure[part] = least <= others
            outside[part] = np.all((exact > least[:, None] + 1e-9) | (side > 0), axis=1)
        return distance, sure, outside

    def _sides(self, strands, distance, side):
        """Fills `side` (1 inside, 0 outside, -1 unknown), from the root on.

        A ball around a point that no triangle reaches into is on one side, so that most points are on the side of the point before.
        """
        steps = np.linalg.norm(np.diff(strands, axis=1), axis=2)
        linked = steps < np.maximum(distance[:, 1:], distance[:, :-1])
        for k in range(strands.shape[1]):
            if k:
                # Where pieces of a mesh overlap, the nearest triangles may show their front to a point inside.
                follow = linked[:, k - 1] & ((side[:, k] < 0) | (side[:, k - 1] == 1))
                side[follow, k] = side[follow, k - 1]
            asked = np.flatnonzero(side[:, k] < 0)
            if len(asked):
                side[asked, k] = self.winding(strands[asked, k]) > 0.5

    def winding(self, points):
        """Winding numbers (n,): the sum of signed solid angles (Van Oosterom and Strackee 1983) over 4 pi."""
        out = np.empty(len(points))
        for n, point in enumerate(points):
            a, b, c = np.moveaxis(self.corners - point, 1, 0)
            la, lb, lc = (np.sqrt(np.einsum("ij,ij->i", v, v)) for v in (a, b, c))
            dots = [np.einsum("ij,ij->i", u, v) for u, v in ((a, b), (b, c), (c, a))]
            volume = np.einsum("ij,ij->i", a, np.cross(b, c))
            angle = np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
            out[n] = angle.sum() / (2 * np.pi)
        return out


def _pieces(corners):
    """Centres of pieces of triangles, the triangle of each, and the largest distance of a point of a piece from its centre."""
    owner = np.arange(len(corners))
    limit = 1.5 * np.median(_radius(corners))
    while True:
        large = _radius(corners) > limit
        if not large.any():
            return corners.mean(axis=1), owner, _radius(corners).max()
        a, b, c = np.moveaxis(corners[large], 1, 0)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = [np.stack(p, 1) for p in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        corners = np.concatenate([corners[~large], *parts])
        owner = np.concatenate([owner[~large], *[owner[large]] * 4])


def _radius(corners):
    """Largest distance of a corner from the centre."""
    return np.linalg.norm(corners - corners.mean(axis=1, keepdims=True), axis=2).max(axis=1)


def _to_triangles(points, corners, normals):
    """Distances to triangles, and heights over their planes."""
    a, b, c = np.moveaxis(corners, -2, 0)
    height = _dot(points - a, normals)
    foot = points - height[..., None] * normals
    inside = np.ones(height.shape, bool)
    least = np.full(height.shape, np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        inside &= _dot(np.cross(edge, foot - start), normals) >= 0
        share = np.clip(_dot(points - start, edge) / np.maximum(_dot(edge, edge), 1e-30), 0, 1)
        least = np.minimum(least, np.linalg.norm(points - start - share[..., None] * edge, axis=-1))
    return np.where(inside, np.abs(height), least), height


def _dot(a, b):
    return np.einsum("...i,...i->...", a, b)
