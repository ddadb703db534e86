// node jsroot_read.mjs MODULES NTUPLE VALUES.jsonl.gz FILE...
//
// Has jsroot, which is installed in the folder MODULES, read the top-level fields of the RNTuple in each file, one by
// one, and prints as JSON what is wrong with them: {"jsroot": version, "files": [{field: what, ...}, ...]}, where "what"
// is "" if the values are those of the JSON Lines.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { pathToFileURL } from 'node:url';

const [modules, ntuple, values, ...files] = process.argv.slice(2),
      jsroot = name => import(pathToFileURL(`${modules}/jsroot/modules/${name}.mjs`)),
      { openFile } = await jsroot('io'),
      { TSelector } = await jsroot('tree'),
      { readHeaderFooter, rntupleProcess } = await jsroot('rntuple'),
      version = JSON.parse(readFileSync(`${modules}/jsroot/package.json`)).version,
      expected = gunzipSync(readFileSync(values)).toString().split('\n').filter(line => line).map(line => JSON.parse(line));

let messages = [], tolerance = 0;
for (const method of ['log', 'warn', 'error'])
   console[method] = (...args) => messages.push(args.map(a => a?.message ?? String(a)).join(' '));

// The bytes of a string of package judge, which has \udc80 to \udcff for bytes that are not UTF-8.
function bytesOf(text) {
   return Buffer.concat([...text].map(c => {
      const code = c.codePointAt(0);
      return code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code & 0xff]) : Buffer.from(c);
   }));
}

// Is got, as jsroot gives it, the value want of package judge?
function same(want, got) {
   if (want === null)
      return got === null || got === undefined;
   if (typeof want === 'boolean')
      return got === want;
   if (typeof want === 'number') // 64 bits: as near as a number of JavaScript comes
      return typeof got === 'string' ? got.length === 1 && (got.charCodeAt(0) << 16 >> 16) === want : Number(got) === want;
   if (typeof want === 'string') {
      if (/^0x([0-9a-f]{8}|[0-9a-f]{16})$/.test(want) && typeof got === 'number') {
         const b = Buffer.from(want.slice(2), 'hex'),
               x = b.length === 4 ? b.readFloatBE() : b.readDoubleBE();
         // jsroot takes other steps from quantized values to floats than ROOT
         return Object.is(x, got) || Math.abs(x - got) <= tolerance * Math.abs(x);
      }
      if (/^[01]+$/.test(want) && (typeof got === 'number' || typeof got === 'bigint')) // a bitset
         return BigInt(got) === BigInt('0b' + want);
      return typeof got === 'string' && bytesOf(want).equals(Buffer.from(got, 'latin1'));
   }
   if (typeof got !== 'object' || got === null)
      return false;
   if (Array.isArray(want)) {
      const items = Array.isArray(got) ? [...got] : 'first' in got ? [got.first, got.second] : Object.values(got);
      // sets without an order come sorted by their text
      return want.length === items.length && (want.every((w, i) => same(w, items[i])) || want.every(w => {
         const i = items.findIndex(item => same(w, item));
         return i >= 0 && items.splice(i, 1);
      }));
   }
   const names = Object.keys(want);
   if (Array.isArray(got)) // a map
      return names.length === got.length && names.every(name => got.some(pair => same(name, pair.first) && same(want[name], pair.second)));
   return names.every(name => same(want[name], got[name]));
}

async function check(tuple, field) {
   const selector = new TSelector();
   let entries = 0, wrong = 0, first = '';
   selector.addBranch(field, 'v');
   selector.Process = function(entry) {
      entries++;
      if (!same(expected[entry]?.[field], this.tgtobj.v) && !wrong++)
         first = `entry ${entry} is ${JSON.stringify(this.tgtobj.v, (_, v) => typeof v === 'bigint' ? `${v}` : v)}`.slice(0, 120);
   };
   messages = [];
   tolerance = field.includes('Quant') ? 1e-6 : 0;
   try {
      await rntupleProcess(tuple, selector);
   } catch (err) {
      return `error: ${err.message}`;
   }
   if (wrong)
      return `${wrong} values are wrong, ${first}`;
   if (entries !== expected.length)
      return `${entries} entries, not ${expected.length}`;
   return messages.length ? `says ${messages[0]}` : '';
}

const report = { jsroot: version, files: [] };
for (const path of files) {
   const faults = {};
   report.files.push(faults);
   try {
      const file = await openFile(path),
            tuple = await file.readObject(ntuple),
            builder = await readHeaderFooter(tuple);
      if (!builder)
         throw new Error(messages.join('; '));
      for (const [i, f] of builder.fieldDescriptors.entries()) {
         if (f.parentFieldId === i)
            faults[f.fieldName] = await check(tuple, f.fieldName);
      }
   } catch (err) {
      faults['*'] = `error: ${err.message}`;
   }
}
process.stdout.write(JSON.stringify(report));
