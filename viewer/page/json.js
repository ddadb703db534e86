// Entries come as the text that rnt cat prints, because numbers of 64 bits, -0.0, and the
// order of keys do not survive JSON.parse. The text is taken apart level by level, as far
// as it is looked at; values stay the text that they are.

/**
 * Yields the members of an object, as [name, text], or the items of an array, as
 * [number, text].
 *
 * @param {string} text valid JSON without white space between its tokens
 * @returns {Generator<[string|number, string]>}
 */
export function* parts(text) {
  const object = text[0] === "{";
  let at = 1;
  for (let i = 0; at < text.length - 1; i++) {
    /** @type {string|number} */
    let name = i;
    if (object) {
      const end = endOf(text, at);
      name = JSON.parse(text.slice(at, end));
      at = end + 1; // the colon
    }
    const end = endOf(text, at);
    yield [name, text.slice(at, end)];
    at = end + 1; // the comma
  }
}

/** Returns how many parts a text has, at most most. */
export function length(text, most = Infinity) {
  let n = 0;
  for (const _ of parts(text)) if (++n >= most) break;
  return n;
}

/** Reports whether a text is an array or an object. */
export function nested(text) {
  return text[0] === "[" || text[0] === "{";
}

const special = /["[\]{},:]/g;

// endOf returns where the value that begins at an index ends.
function endOf(text, at) {
  if (text[at] === '"') return endOfString(text, at);
  let depth = 0;
  special.lastIndex = at;
  for (let m; (m = special.exec(text));) {
    switch (m[0]) {
      case '"': special.lastIndex = endOfString(text, m.index); break;
      case "[": case "{": depth++; break;
      case "]": case "}":
        if (depth === 0) return m.index;
        if (--depth === 0) return m.index + 1;
        break;
      default:
        if (depth === 0) return m.index;
    }
  }
  return text.length;
}

function endOfString(text, at) {
  for (let i = at + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 92) i++; // a backslash
    else if (c === 34) return i + 1;
  }
  return text.length;
}
