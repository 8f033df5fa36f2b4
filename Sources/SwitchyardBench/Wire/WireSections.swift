extension BenchArea {
    static let wire = BenchArea(name: "wire", sections: http + json)

    private static let json: [any BenchSection] = [JSONValueBench(), JSONCodingBench()]

    #if os(Linux)
        private static let http: [any BenchSection] = [HTTPRequestSection(), HTTPBodySection()]
    #else
        private static let http: [any BenchSection] = []
    #endif
}
