extension BenchArea {
    static let firebase = BenchArea(name: "firebase", sections: [])
}
