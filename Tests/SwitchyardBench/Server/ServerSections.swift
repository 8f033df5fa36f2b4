extension BenchArea {
    /// Typical uses on servers.
    #if os(Linux)
        static let server = BenchArea(
            name: "server",
            sections: [TokenSection(), IdentitySection(), ScanSection(), BulkSection(), MoveSection(), CopySection()])
    #else
        static let server = BenchArea(name: "server", sections: [TokenSection()])
    #endif
}
