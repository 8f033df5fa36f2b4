extension BenchArea {
    #if os(Linux)
        static let firebase = BenchArea(
            name: "firebase",
            sections: [
                FirestoreRequestSection(), FirestoreQuerySection(), FirestoreEventSection(), FirebaseFilesSection(),
            ])
    #else
        static let firebase = BenchArea(name: "firebase", sections: [])
    #endif
}
