{{#HAS_LOOKUP}}
static const uint VAT_POINT_COLUMNS = {{POINT_COLUMNS}}u;
static const uint VAT_POINT_ACROSS = {{POINT_ACROSS}}u;
static const uint VAT_POINT_FRAME_ROWS = {{POINT_FRAME_ROWS}}u;
static const uint VAT_POINT_LINE_ROWS = {{POINT_LINE_ROWS}}u;
static const uint2 VAT_POINT_SIZE = uint2({{POINT_WIDTH}}u, {{POINT_HEIGHT}}u);

// Column and row of a point in a frame, rows from the bottom.
int3 VatPointTexel(uint number, uint frame)
{
    uint x = (frame % VAT_POINT_ACROSS) * VAT_POINT_COLUMNS + number % VAT_POINT_COLUMNS;
    uint y = (frame / VAT_POINT_ACROSS) * VAT_POINT_FRAME_ROWS + (number / VAT_POINT_COLUMNS) * VAT_POINT_LINE_ROWS;
    return int3(x, VAT_POINT_SIZE.y - 1u - y, 0);
}
