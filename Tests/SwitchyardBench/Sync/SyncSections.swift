extension BenchArea {
    static let sync = BenchArea(
        name: "sync",
        sections: [
            LocalWriteSection(), LiveQuerySection(), ColdStartSection(),
            ColdStartSection(name: "cold start among a million", total: 1_000_000), ReplaySection(),
        ])
}
