extension BenchArea {
    static let core = BenchArea(name: "core", sections: [MockSection()])
}
