// Treemaps: rectangles whose areas are sizes, as square as they can be (Bruls, Huizing, van Wijk, Squarified Treemaps, 2000).

/**
 * Lays sizes, in falling order, out in a rectangle.
 *
 * @param {number[]} sizes
 * @param {{x: number, y: number, w: number, h: number}} room
 * @returns {{x: number, y: number, w: number, h: number}[]}
 */
export function squarify(sizes, { x, y, w, h }) {
  let left = sizes.reduce((a, b) => a + b, 0);
  const tiles = [];
  for (let i = 0; i < sizes.length && left > 0;) {
    const side = Math.min(w, h), area = w * h / left;
    // A strip along the shorter side takes tiles as long as that makes the worst more square.
    let sum = sizes[i], end = i + 1, worst = squareness(sizes[i], sizes[i], sum, side, area);
    for (; end < sizes.length; end++) {
      const next = squareness(sizes[i], sizes[end], sum + sizes[end], side, area);
      if (next > worst) break;
      worst = next;
      sum += sizes[end];
    }
    const thick = sum * area / side || 0;
    let at = 0;
    for (; i < end; i++) {
      const long = sizes[i] / sum * side || 0;
      tiles.push(w >= h ? { x, y: y + at, w: thick, h: long } : { x: x + at, y, w: long, h: thick });
      at += long;
    }
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    left -= sum;
  }
  return tiles;
}

// squareness returns the greatest ratio of the sides of the tiles of a strip.
function squareness(most, least, sum, side, area) {
  const thick = sum * area / side;
  const ratio = (size) => Math.max(thick * thick / (size * area), size * area / (thick * thick));
  return Math.max(ratio(most), ratio(least));
}

const viridis = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "aadc32", "fde725"].map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
const hues = ["3f6fd8", "22a5c0", "3fae5a", "c9a91b", "e08a3c", "b765c4"].map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));

function ramp(colours, t) {
  const at = Math.min(Math.max(t, 0), 1) * (colours.length - 1), i = Math.min(Math.floor(at), colours.length - 2);
  return colours[i].map((c, k) => Math.round(c + (at - i) * (colours[i + 1][k] - c)));
}

const css = (rgb) => `rgb(${rgb.join(",")})`;

/** Returns the colour of a compression ratio, and that of text on it. */
export function ratioColour(ratio) {
  const rgb = ratio > 0 ? ramp(viridis, Math.log2(ratio) / 5) : [110, 115, 124];
  // As bright as where black and white are equally easy to read (WCAG 2).
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return { fill: css(rgb), text: 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff" };
}

/** Returns the colour of the i-th of n clusters: neighbours differ in brightness, those far apart in hue. */
export function clusterColour(i, n) {
  if (i == null || i < 0) return "rgb(138,143,152)";
  const rgb = ramp(hues, i / Math.max(n - 1, 1));
  return css(i % 2 ? rgb.map((c) => Math.round(c * 0.72)) : rgb);
}
