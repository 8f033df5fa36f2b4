extension BenchArea {
    static let wire = BenchArea(name: "wire", sections: [JSONValueBench()])
}
