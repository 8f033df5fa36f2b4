extension BenchArea {
    static let sync = BenchArea(name: "sync", sections: [])
}
