// Rows of one height in a box that scrolls: only those in view exist.

// Browsers stop at some 16 to 33 million pixels.
const highest = 8_000_000;

/**
 * Rows shows those of any number of rows that are in view, in a layer that does not scroll
 * itself. Where the rows are too many for a browser, the scroll bar stands for a share of
 * them, and wheel and fingers move row by row.
 */
export class Rows {
  count = 0;
  #position = 0; // of the upper edge, in pixels of all rows
  #expected = 0; // the position of the scroll bar that belongs to it
  #frame = 0;

  /**
   * @param {HTMLElement} box what scrolls
   * @param {{height: number, header?: number, draw: (first: number, last: number, y: (row: number) => number) => void}} options
   *   height of a row and of what stays above the rows, in pixels; draw puts the rows from
   *   first up to but not including last into layer, at y
   */
  constructor(box, { height, header = 0, draw }) {
    Object.assign(this, { box, height, header, paint: draw });
    this.layer = document.createElement("div");
    this.layer.className = "layer";
    this.room = document.createElement("div");
    this.room.className = "room";
    box.classList.add("rows");
    box.append(this.layer, this.room);
    box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    box.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    let finger = 0;
    box.addEventListener("touchstart", (e) => { finger = e.touches[0].clientY; }, { passive: true });
    box.addEventListener("touchmove", (e) => {
      if (!this.#scaled || e.touches.length !== 1) return;
      const y = e.touches[0].clientY;
      e.preventDefault();
      this.moveTo(this.#position + finger - y);
      finger = y;
    }, { passive: false });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  get #scaled() { return this.count * this.height > highest; }
  get #view() { return Math.max(this.box.clientHeight - this.header, this.height); }
  get #most() { return Math.max(this.count * this.height - this.#view, 0); }
  get #range() { return Math.max(this.room.offsetHeight - this.box.clientHeight, 1); }

  /** The first row in view. */
  get first() { return Math.floor(this.#position / this.height); }

  /** How many rows are in view as a whole. */
  get page() { return Math.max(Math.floor(this.#view / this.height), 1); }

  /** Returns the row at a distance from the upper edge of the box, with its fraction. */
  row(y) { return (y - this.header + this.#position) / this.height; }

  /** Says how many rows there are, and how wide the widest is. */
  resize(count, width = 0) {
    this.count = count;
    this.room.style.height = `${this.header + Math.min(count * this.height, highest)}px`;
    this.room.style.width = width ? `${width}px` : "";
    this.moveTo(this.#position);
  }

  /** Moves the upper edge to a position in pixels of all rows. */
  moveTo(position) {
    this.#position = Math.min(Math.max(position, 0), this.#most);
    const bar = this.#scaled ? this.#position / this.#most * this.#range : this.#position;
    if (Math.abs(this.box.scrollTop - bar) >= 1) this.box.scrollTop = bar;
    this.#expected = this.box.scrollTop;
    this.draw();
  }

  /** Moves as little as it takes to have a row in view. */
  reveal(row) {
    const y = row * this.height;
    if (y < this.#position) this.moveTo(y);
    else if (y + this.height > this.#position + this.#view) this.moveTo(y + this.height - this.#view);
  }

  /** Draws with the next frame. */
  draw() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#position = Math.min(this.#position, this.#most);
      const first = this.first;
      const last = Math.min(first + Math.ceil(this.#view / this.height) + 1, this.count);
      this.layer.style.height = `${this.box.clientHeight}px`;
      this.layer.style.width = `${this.box.clientWidth}px`;
      this.paint(first, last, (row) => this.header + row * this.height - this.#position);
    });
  }

  #scrolled() {
    const bar = this.box.scrollTop;
    if (!this.#scaled) this.#position = bar;
    else if (Math.abs(bar - this.#expected) >= 1) this.#position = bar >= this.#range - 1 ? this.#most : bar / this.#range * this.#most;
    this.#expected = bar;
    this.draw();
  }

  #wheel(e) {
    if (!this.#scaled || e.ctrlKey || e.shiftKey || !e.deltaY) return;
    e.preventDefault();
    this.moveTo(this.#position + e.deltaY * [1, this.height, this.#view][e.deltaMode]);
    if (e.deltaX) this.box.scrollLeft += e.deltaX;
  }
}
