extension BenchArea {
    static let core = BenchArea(
        name: "core", sections: [CodableBench(), QueryViewBench(), MockReadBench(), MockWriteBench()])
}
