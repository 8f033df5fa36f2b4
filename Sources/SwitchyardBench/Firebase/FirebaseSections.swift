extension BenchArea {
    #if os(Linux)
        static let firebase = BenchArea(name: "firebase", sections: [FirebaseFilesSection()])
    #else
        static let firebase = BenchArea(name: "firebase", sections: [])
    #endif
}
