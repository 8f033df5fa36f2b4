/// A part of the software and its sections. Each area lists its sections in a file of its folder.
struct BenchArea: Sendable {
    let name: String
    let sections: [any BenchSection]

    static let all: [BenchArea] = [.core, .wire, .sync, .firebase, .supabase, .server]
}
