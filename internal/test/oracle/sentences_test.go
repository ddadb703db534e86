package oracle

// sentences are the rows of TestSentences, in the order of the documentation.
const sentences = `
// Variables
$env["a:b"] + 1 => 6
let N = 3; N + $env["N"] => 5
unknown => type error
P.x => 1.0
P.unknown => type error
H[0].x + H[1].n => 5.0
V[0] => 1.5
V[-1] => -1.0
V[1:3] => [2.5 -1.0]
m["a"] => 1.0
m.a => 1.0
m["b"] => missing
"a" in m => true
"b" in m => false
number[0].key => 7
number[1] => missing
any(number, .key == 7 and .value > 0) => true
tuple[0] + 1 => 2
tuple[1] => "x"
tuple[2] => type error
huge => error
huge > 1 or true => error
true or huge > 1 => true
huges[0] => error
HH[0].v => 1
HH[0].u => error
sum(map(HH, .v)) => 1

// Missing values
V[3] => missing
V[3] + 1 => missing
-V[3] => missing
sqrt(V[3]) => missing
OP.x => missing
MV => missing
MV[0] => missing
MV[0:1] => missing
V[O] => missing
V[:O] => missing
min(E) => missing
max(E) => missing
mean(E) => missing
median(E) => missing
sum(E) => 0.0
sum(EI) => 0
O == 1 => false
O != 1 => false
O < 1 => false
1 >= O => false
O in [1] => false
O in [O, 1] => false
nil in [nil] => false
1 in [O, 1] => true
O in 0..1 => false
1 in O..2 => false
OS matches "a" => false
OS contains "a" => false
"a" startsWith OS => false
OS == nil => true
O != nil => false
V == nil => false
MV == nil => true
[O, 1] == nil => false
OP == nil => true
O ?? 7 => 7
N ?? 7 => 2
O ?? nil => missing
MV ?? V => [1.5 2.5 -1.0]
OB and true => false
OB or true => true
not OB => true
OB ? 1 : 2 => 2
E[0] > 20 => false
E[0] <= 20 => false
not (E[0] > 20) => true
VM and true => [false true false]
VM or false => [false true false]
not VM => [true false true]
VI + 1 => [missing 2 3]
VI > 1 => [false false true]
VI != 1 => [false false true]
VI in [1] => [false true false]
MV + 1 => missing
MV > 1 => missing
V + O => missing
V > O => missing
(MV > 1) and B => missing
MV + V => missing
map(Deep * O, len(groupBy(#, #))) => missing
any(MV, # > 0) => missing
all(MV, # > 0) => missing
count(MV, # > 0) => missing
sum(MV) => missing
len(MV) => missing
filter(MV, true) => missing
map(MV, 1) => missing
find(MV, true) => missing
sort(MV) => missing
sum(VI) => missing
min(VI) => missing
mean(VI) => missing
median(VI) => missing
any(VM, #) => true
all(VM, #) => false
none(VM, #) => false
one(VM, #) => true
count(VM, #) => 1
count(VM) => 1
filter(VI, # > 1) => [2]
filter(VI, # == nil) => [missing]
sort(VI) => missing
argsort(VI) => missing
argmin(VI) => missing
argmax(VI) => missing
mass(VI, V, V, V) => missing
mass(VI, E, V, V) => missing
sortBy(VI, #) => type error
sortBy(VI, # ?? 5) => [1 2 missing]
groupBy(VI, #) => type error
uniq([O, 1, O, 1]) => [missing 1]
reverse(VI) => [2 1 missing]
first(VI) => missing
last(VI) => 2
take(VI, 2) => [missing 1]
VI[:2] => [missing 1]
concat(VI, [3]) => [missing 1 2 3]
map(VI, #) => [missing 1 2]
flatten([VI]) => [missing 1 2]
flatten(DeepO) => [1.0 missing]
any([OB], #) => false

// Numbers
2 in 1..3 => true
4 in 1..3 => false
2.0 in 1..3 => true
2.5 in 1..3 => false
3 in -9223372036854775807..9223372036854775807 => true
2 in 3..1 => false
0.0 / 0.0 in 0..1 => false
V in 0..1 => [false false false]
N + D => 4.5
B ? 1 : D => 1.0
O ?? D => 2.5
N ?? D => 2.0
[1, D] => [1.0 2.5]
[[1], [D]] => [[1.0] [2.5]]
[{a: 1}, {a: D}][0].a => 1.0
[{a: 1}, {b: 1}] => type error
[1, nil] => [1 missing]
[1, "a"] => type error
B ? 1 : "a" => type error
N ?? "a" => type error
B ? V : [] => [1.5 2.5 -1.0]
concat([], I) => [3 1 2]
concat(I, V) => [3.0 1.0 2.0 1.5 2.5 -1.0]
9223372036854775807 + 1 => -9223372036854775808
-9223372036854775807 - 2 => 9223372036854775807
9223372036854775807 * 2 => -2
-(-9223372036854775807 - 1) => -9223372036854775808
1 / 2 => 0.5
1 / 0 => +Inf
2 ** 3 => 8.0
2 ^ 3 => 8.0
-7 % 3 => -1
7 % -3 => 1
N % 0 => missing
(-9223372036854775807 - 1) % -1 => 0
D % 2 => type error
0.0 / 0.0 == 0.0 / 0.0 => false
0.0 / 0.0 != 0.0 / 0.0 => true
-0.0 == 0 => true
F == 0.1 => false
9007199254740993 == 9007199254740992 => false
9007199254740993 == 9007199254740992.0 => true
9007199254740993 in [9007199254740992] => false
9007199254740993 in [9007199254740992.0] => true
min([0.0 / 0.0, 1]) => NaN
min([1, 0.0 / 0.0]) => 1.0
max(2, V, Deep) => 3.0
min(1, 2) => 1
min(1, 2.5) => 1.0
min(1, E) => 1.0
min(1, O) => missing
sum([1e308, 1e308, -1e308]) => +Inf
mean(I) => 2.0
median([4, 1, 3, 2]) => 2.5
median(I) => 2.0
sum(M) => 2
sum([-0.0]) => 0.0
"a" + 1 => type error
-S => type error

// Arrays
V / 2 => [0.75 1.25 -0.5]
V * W => [4.5 2.5 -2.0]
V > 2 => [false true false]
V > 2 and W < 2 => [false true false]
V == W => [false false false]
Deep * 2 => [[2.0] [] [4.0 6.0]]
Deep + V => [[2.5] [] [1.0 2.0]]
T + "x" => ["bx" "ax" "éx"]
T == "a" => [false true false]
T startsWith "a" => [false true false]
V + E => error
V > 1 and E > 1 => error
V + Deep[0] => error
B and V > 2 => [false true false]
false and V + E > 0 => error
V[W > 1] => [1.5 -1.0]
V[[true]] => error
V[VM] => [2.5]
V[I[1:]] => [2.5 -1.0]
V[I] => missing
V[VI] => missing
V[[-1, 0]] => [-1.0 1.5]
V[argsort(W)] => [2.5 -1.0 1.5]
E[argsort(W)] => error
E[argsort(W)[1:]] => error
E[argsort(W)[M]] => error
E[combinations(W)[0]] => error
let c = combinations(W); E[c[1]] => error
V[1.0] => type error
V["x"] => type error
V[-5:2] => [1.5 2.5]
V[2:-2] => []
V[:9] => [1.5 2.5 -1.0]
len(S) => 3
S[1:] => "éb"
S[-2:-1] => "é"
len(V) => 3
V == nil ? 1 : 2 => 2
M ? 1 : 2 => type error
P["x"] => 1.0
P[S] => type error
H.x => type error
"x" in P => true
"y" in P => false

// What is evaluated, and errors
false and int("x") > 0 => false
true or int("x") > 0 => true
true and int("x") > 0 => error
false or int("x") > 0 => error
OB and int("x") > 0 => false
B ? 1 : int("x") => 1
B ? int("x") : 1 => error
N ?? int("x") => 2
O ?? int("x") => error
len(map(V, int("x"))) => error
len(map(E, int("x"))) => 0
let z = int("x"); 1 => error
any(I, # == 3 or 1 in [int(string(#)), int("x")]) => error
any(T, # == "b" or int(#) == 0) => error
any(I, # == 3 ? true : false) => true
int("x") + O => error
O + int("x") => error
int("12") => 12
float("1.5") => 1.5
int("1.5") => error
int(" 1") => error
len(1..1000000) => 1000000
1..1000001 => error
3..1 => []
1..3 => [1 2 3]
S matches "[" => type error
S matches ("[" + "") => error
S matches "^a.b$" => true
bitshl(1, -1) => error
bitshr(-8, 64) => -1
bitushr(-8, 64) => 0
bitshl(1, 64) => 0
bitushr(-1, 63) => 1
bitand(6, 3) => 2
bitand(6.0, 3) => type error

// Functions of arrays
any(V, # > 2) => true
all(V, # > 2) => false
none(V, # > 2) => false
one(V, # > 2) => true
count(V, # > 1) => 2
all(E, false) => true
filter(V, # > 0) => [1.5 2.5]
map(H, .n) => [1 2 1]
map(V, #index) => [0 1 2]
sum(V, # * 2) => 6.0
map(V, map(I, # + #index)) => [[3 2 4] [3 2 4] [3 2 4]]
find(V, # > 2) => 2.5
findLast(V, # > 0) => 2.5
findIndex(V, # > 2) => 1
findLastIndex(V, # > 0) => 1
find(V, # > 9) => missing
findIndex(V, # > 9) => missing
sort(Odd) => [1.0 2.0 3.0 NaN NaN]
sort(Odd, "desc") => [3.0 2.0 1.0 NaN NaN]
sort(T) => ["a" "b" "é"]
sort(I, S) => type error
sort(M) => type error
map(sortBy(H, .n), .x) => [3.0 2.0 1.0]
map(sortBy(H, .n, "desc"), .x) => [1.0 3.0 2.0]
map(sortBy(H, .n == 1), .x) => [1.0 3.0 2.0]
uniq([1, 2, 1.0]) => [1.0 2.0]
uniq(Odd) => [3.0 NaN 1.0 NaN 2.0]
uniq(H) => type error
groupBy(I, # > 1) => [{key:true value:[3 2]} {key:false value:[1]}]
groupBy(I, # > 1)[false] => [1]
groupBy(I, #)[9] => missing
groupBy(I, #)[2.0] => [2]
len(groupBy(Odd, #)) => 5
2 in groupBy(I, #) => true
keys(groupBy(I, (# % 2) ?? 0)) => [1 0]
values(groupBy(I, (# % 2) ?? 0)) => [[3 1] [2]]
map(groupBy(I, # > 1), len(.value)) => [2 1]
keys(m) => ["a" "a"]
len(m) => 2
any(m, .value > 1) => true
groupBy(I, # % 2) => type error
reduce(I, #acc * 10 + #) => 312
reduce(I, #acc + #, 0.5) => 6.5
reduce(EI, #acc + #) => missing
reduce(EI, #acc + #, 1) => 1
reduce(I, #acc + 0.5) => type error
reduce(I, #acc + #index) => 6
first(E) => missing
get(V, 1) => 2.5
get(m, "a") => 1.0
take(V, 2) => [1.5 2.5]
take(V, [2, 0]) => [-1.0 1.5]
take(V, [9]) => missing
flatten([Deep, Deep]) => [1.0 2.0 3.0 1.0 2.0 3.0]
reverse(V) => [-1.0 2.5 1.5]
argmin(V) => 2
argmax(V) => 1
argmax(E) => missing
argsort(Odd) => [2 4 0 1 3]
argsort([1, 0, 1, 0]) => [1 3 0 2]
combinations(V) => [[0 0 1] [1 2 2]]
combinations(I[:1], T[:2]) => [[0 0] [0 1]]
combinations(1..1416) => error

// Functions of numbers
sqrt([4, 9]) => [2.0 3.0]
hypot([3, 5], [4, 12]) => [5.0 13.0]
hypot([3, 5], 0) => [3.0 5.0]
hypot(V, E) => error
hypot(V, 1, 2) => type error
abs(-3) => 3
abs(-3.0) => 3.0
int(2.9) => 2
int(-2.9) => -2
int(1e300) => 9223372036854775807
int(0.0 / 0.0) => 0
int(9007199254740993) => 9007199254740993
float(2) => 2.0
round(-2.5) => -3.0
isnan(V) => [false false false]
isnan(O) => missing
deltaPhi(0, 4) => -2.2831853071795862
deltaR(0, 0, [3, 4], 0) => [3.0 4.0]
mass(E, E, E, E) => 0.0
mass(V, W, V, E) => error
mass([0], [0], [0], [2]) => 2.0
sqrt(S) => type error
unknown(1) => type error

// Strings
"a" + S => "aaéb"
"B" < "a" => true
upper("é") + lower("A") => "Éa"
trim(" a ") => "a"
trim("xax", "x") => "a"
trimPrefix(" a") + trimSuffix("a ") => "aa"
trimPrefix("ab", "a") => "b"
split("a,b,c", ",") => ["a" "b" "c"]
split("a,b,c", ",", 2) => ["a" "b,c"]
splitAfter("a,b", ",") => ["a," "b"]
replace("aaa", "a", "b") => "bbb"
replace("aaa", "a", "b", 1) => "baa"
repeat("ab", 2) => "abab"
repeat("ab", -1) => error
join(T) => "baé"
join(T, "-") => "b-a-é"
join([OS, "a"]) => missing
indexOf("éab", "a") => 1
lastIndexOf("éaba", "a") => 3
indexOf("a", "x") => -1
hasPrefix(S, "a") and hasSuffix(S, "b") => true
hasPrefix(OS, "a") => missing
string(1e21) + string(true) + string(2.0) => "1e+21true2"
string(V) => type error

// Variants
vi + 1 => 4.0
vi == 3 => true
vs == "x" => true
vs > 1 => error
vi == "x" => error
vn == nil => true
vn + 1 => missing
vn == 1 => false
vi == true => type error
vi == vi => type error
int(vi) => 3
float(vi) => 3.0
int(vs) => error
string(vi) + string(vs) => "3x"
int(vn) => missing
sqrt(vi) => type error
vi ?? 1 => type error

// Records, let, pipes
{a: 1, b: V}.b[0] => 1.5
{a: 1}.b => type error
{a: 1} == {a: 1} => type error
m == m => type error
let x = N + 1; let y = x * 2; x + y => 9
let x = 1; let x = x + 1; x => 2
V | filter(# > 0) | len() => 2
V | map(# * 2) | sum() => 6.0
if N > 1 { 1 } else { 2 } => 1
1 not in I => false
{a: 1} == nil => false
toJSON(V) => type error
fromJSON("1") => type error
toBase64(S) => type error
fromBase64(S) => type error
now() => type error
date(S) => type error
duration(S) => type error
timezone(S) => type error
type(N) => type error
toPairs(m) => type error
fromPairs(V) => type error
`
