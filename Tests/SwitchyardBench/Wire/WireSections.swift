extension BenchArea {
    static let wire = BenchArea(name: "wire", sections: network + json)

    private static let json: [any BenchSection] = [JSONValueBench(), JSONCodingBench()]

    #if os(Linux)
        private static let network: [any BenchSection] = [HTTPRequestSection(), HTTPBodySection(), WebSocketSection()]
    #else
        private static let network: [any BenchSection] = []
    #endif
}
