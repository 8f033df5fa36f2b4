extension BenchArea {
    /// What servers do with it.
    static let server = BenchArea(name: "server", sections: [TokenSection()])
}
