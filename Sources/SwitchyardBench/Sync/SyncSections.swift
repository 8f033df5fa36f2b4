extension BenchArea {
    static let sync = BenchArea(
        name: "sync",
        sections: [LocalWriteSection(), LiveQuerySection(), ColdStartSection(), ReplaySection()])
}
