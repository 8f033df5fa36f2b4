extension BenchArea {
    static let core = BenchArea(
        name: "core", sections: [BoundaryBench(), CodableBench(), QueryViewBench(), MockReadBench(), MockWriteBench()])
}
