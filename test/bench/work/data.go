package work

import (
	"math"
	"unsafe"
)

// The entries of the data sets, as in ../cpp/data.hxx. The names of the members
// are those of the fields in all files.
type (
	// F is a B meson that decays to three hadrons, like those of LHCb: flat, mostly
	// double.
	F struct {
		B_FlightDistance, B_VertexChi2           float64
		H1_PX, H1_PY, H1_PZ, H1_ProbK, H1_ProbPi float64
		H1_Charge                                int32
		H1_IPChi2                                float64
		H1_isMuon                                int32
		H2_PX, H2_PY, H2_PZ, H2_ProbK, H2_ProbPi float64
		H2_Charge                                int32
		H2_IPChi2                                float64
		H2_isMuon                                int32
		H3_PX, H3_PY, H3_PZ, H3_ProbK, H3_ProbPi float64
		H3_Charge                                int32
		H3_IPChi2                                float64
		H3_isMuon                                int32
	}

	// J is a collision event like those of CMS's NanoAOD.
	J struct {
		Run                        uint32
		LuminosityBlock            uint32
		Event                      uint64
		PV_npvs                    int32
		PV_z                       float32
		MET_pt, MET_phi, MET_sumEt float32
		Rho                        float32
		GenWeight                  float32

		HLT_00, HLT_01, HLT_02, HLT_03, HLT_04, HLT_05, HLT_06, HLT_07, HLT_08, HLT_09 bool
		HLT_10, HLT_11, HLT_12, HLT_13, HLT_14, HLT_15, HLT_16, HLT_17, HLT_18, HLT_19 bool

		Muon_pt, Muon_eta, Muon_phi, Muon_mass []float32
		Muon_charge                            []int32
		Muon_dxy, Muon_dz, Muon_iso            []float32
		Muon_nStations, Muon_id                []int32

		Electron_pt, Electron_eta, Electron_phi, Electron_mass []float32
		Electron_charge                                        []int32
		Electron_dxy, Electron_dz, Electron_iso                []float32
		Electron_id                                            []int32

		Jet_pt, Jet_eta, Jet_phi, Jet_mass, Jet_area, Jet_btag, Jet_chHEF, Jet_neHEF, Jet_muEF []float32
		Jet_id, Jet_nConstituents                                                              []int32
	}

	// S has strings and nested things.
	S struct {
		ID     string
		Tags   []string
		Hits   [][]float32
		Weight *float64
		Counts []Count
	}

	// SMap is S with a Go map.
	SMap struct {
		ID     string
		Tags   []string
		Hits   [][]float32
		Weight *float64
		Counts map[string]int32
	}

	// Count is an item of a std::map<std::string, std::int32_t>.
	Count struct {
		Key   string `rntuple:"_0"`
		Value int32  `rntuple:"_1"`
	}
)

// An Entry can add its values to sums, one for each of its fields: of the bits of
// all values, of the bytes of strings, and Item for each item of collections.
type Entry interface{ AddTo(sums []uint64) }

// Item is what an item of a collection adds to a sum, besides its bits.
const Item = 1 << 32

// Number lists the types of numbers in arrays of the data sets.
type Number interface {
	bool | int32 | uint32 | uint64 | float32 | float64
}

// SumOf returns the sum of the bits of all numbers.
func SumOf[T Number](x []T) uint64 {
	data := unsafe.Pointer(unsafe.SliceData(x))
	switch unsafe.Sizeof(*new(T)) {
	case 1:
		return sumOfWords(unsafe.Slice((*uint8)(data), len(x)))
	case 4:
		return sumOfWords(unsafe.Slice((*uint32)(data), len(x)))
	default:
		return sumOfWords(unsafe.Slice((*uint64)(data), len(x)))
	}
}

// sumOfWords has four sums, so that additions need not wait for each other.
func sumOfWords[T uint8 | uint32 | uint64](x []T) uint64 {
	var a, b, c, d uint64
	for ; len(x) >= 4; x = x[4:] {
		a += uint64(x[0])
		b += uint64(x[1])
		c += uint64(x[2])
		d += uint64(x[3])
	}
	for _, x := range x {
		a += uint64(x)
	}
	return a + b + c + d
}

// SumOfItems returns what one collection adds to a sum, or all that lie behind
// each other.
func SumOfItems[T Number](x []T) uint64 { return SumOf(x) + Item*uint64(len(x)) }

// SumOfFew is SumOfItems for one short collection.
func SumOfFew[T int32 | float32](x []T) uint64 {
	sum := Item * uint64(len(x))
	for i := range x {
		sum += uint64(*(*uint32)(unsafe.Pointer(&x[i])))
	}
	return sum
}

func sumOfString(x string) uint64 {
	sum := Item * uint64(len(x))
	for i := range len(x) {
		sum += uint64(x[i])
	}
	return sum
}

func bitOf(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}

func (e *F) AddTo(s []uint64) {
	_ = s[25]
	s[0] += math.Float64bits(e.B_FlightDistance)
	s[1] += math.Float64bits(e.B_VertexChi2)
	s[2] += math.Float64bits(e.H1_PX)
	s[3] += math.Float64bits(e.H1_PY)
	s[4] += math.Float64bits(e.H1_PZ)
	s[5] += math.Float64bits(e.H1_ProbK)
	s[6] += math.Float64bits(e.H1_ProbPi)
	s[7] += uint64(uint32(e.H1_Charge))
	s[8] += math.Float64bits(e.H1_IPChi2)
	s[9] += uint64(uint32(e.H1_isMuon))
	s[10] += math.Float64bits(e.H2_PX)
	s[11] += math.Float64bits(e.H2_PY)
	s[12] += math.Float64bits(e.H2_PZ)
	s[13] += math.Float64bits(e.H2_ProbK)
	s[14] += math.Float64bits(e.H2_ProbPi)
	s[15] += uint64(uint32(e.H2_Charge))
	s[16] += math.Float64bits(e.H2_IPChi2)
	s[17] += uint64(uint32(e.H2_isMuon))
	s[18] += math.Float64bits(e.H3_PX)
	s[19] += math.Float64bits(e.H3_PY)
	s[20] += math.Float64bits(e.H3_PZ)
	s[21] += math.Float64bits(e.H3_ProbK)
	s[22] += math.Float64bits(e.H3_ProbPi)
	s[23] += uint64(uint32(e.H3_Charge))
	s[24] += math.Float64bits(e.H3_IPChi2)
	s[25] += uint64(uint32(e.H3_isMuon))
}

func (e *J) AddTo(s []uint64) {
	_ = s[59]
	s[0] += uint64(e.Run)
	s[1] += uint64(e.LuminosityBlock)
	s[2] += e.Event
	s[3] += uint64(uint32(e.PV_npvs))
	s[4] += uint64(math.Float32bits(e.PV_z))
	s[5] += uint64(math.Float32bits(e.MET_pt))
	s[6] += uint64(math.Float32bits(e.MET_phi))
	s[7] += uint64(math.Float32bits(e.MET_sumEt))
	s[8] += uint64(math.Float32bits(e.Rho))
	s[9] += uint64(math.Float32bits(e.GenWeight))
	s[10] += bitOf(e.HLT_00)
	s[11] += bitOf(e.HLT_01)
	s[12] += bitOf(e.HLT_02)
	s[13] += bitOf(e.HLT_03)
	s[14] += bitOf(e.HLT_04)
	s[15] += bitOf(e.HLT_05)
	s[16] += bitOf(e.HLT_06)
	s[17] += bitOf(e.HLT_07)
	s[18] += bitOf(e.HLT_08)
	s[19] += bitOf(e.HLT_09)
	s[20] += bitOf(e.HLT_10)
	s[21] += bitOf(e.HLT_11)
	s[22] += bitOf(e.HLT_12)
	s[23] += bitOf(e.HLT_13)
	s[24] += bitOf(e.HLT_14)
	s[25] += bitOf(e.HLT_15)
	s[26] += bitOf(e.HLT_16)
	s[27] += bitOf(e.HLT_17)
	s[28] += bitOf(e.HLT_18)
	s[29] += bitOf(e.HLT_19)
	s[30] += SumOfFew(e.Muon_pt)
	s[31] += SumOfFew(e.Muon_eta)
	s[32] += SumOfFew(e.Muon_phi)
	s[33] += SumOfFew(e.Muon_mass)
	s[34] += SumOfFew(e.Muon_charge)
	s[35] += SumOfFew(e.Muon_dxy)
	s[36] += SumOfFew(e.Muon_dz)
	s[37] += SumOfFew(e.Muon_iso)
	s[38] += SumOfFew(e.Muon_nStations)
	s[39] += SumOfFew(e.Muon_id)
	s[40] += SumOfFew(e.Electron_pt)
	s[41] += SumOfFew(e.Electron_eta)
	s[42] += SumOfFew(e.Electron_phi)
	s[43] += SumOfFew(e.Electron_mass)
	s[44] += SumOfFew(e.Electron_charge)
	s[45] += SumOfFew(e.Electron_dxy)
	s[46] += SumOfFew(e.Electron_dz)
	s[47] += SumOfFew(e.Electron_iso)
	s[48] += SumOfFew(e.Electron_id)
	s[49] += SumOfFew(e.Jet_pt)
	s[50] += SumOfFew(e.Jet_eta)
	s[51] += SumOfFew(e.Jet_phi)
	s[52] += SumOfFew(e.Jet_mass)
	s[53] += SumOfFew(e.Jet_area)
	s[54] += SumOfFew(e.Jet_btag)
	s[55] += SumOfFew(e.Jet_chHEF)
	s[56] += SumOfFew(e.Jet_neHEF)
	s[57] += SumOfFew(e.Jet_muEF)
	s[58] += SumOfFew(e.Jet_id)
	s[59] += SumOfFew(e.Jet_nConstituents)
}

func (e *S) AddTo(s []uint64) {
	addCommon(s, e.ID, e.Tags, e.Hits, e.Weight)
	s[4] += Item * uint64(len(e.Counts))
	for i := range e.Counts {
		s[4] += sumOfString(e.Counts[i].Key) + uint64(uint32(e.Counts[i].Value))
	}
}

func (e *SMap) AddTo(s []uint64) {
	addCommon(s, e.ID, e.Tags, e.Hits, e.Weight)
	s[4] += Item * uint64(len(e.Counts))
	for key, value := range e.Counts {
		s[4] += sumOfString(key) + uint64(uint32(value))
	}
}

// addCommon adds what S and SMap have in common.
func addCommon(s []uint64, id string, tags []string, hits [][]float32, weight *float64) {
	s[0] += sumOfString(id)
	s[1] += Item * uint64(len(tags))
	for _, tag := range tags {
		s[1] += sumOfString(tag)
	}
	s[2] += Item * uint64(len(hits))
	for _, hits := range hits {
		s[2] += SumOfItems(hits)
	}
	if weight != nil {
		s[3] += Item + math.Float64bits(*weight)
	}
}
