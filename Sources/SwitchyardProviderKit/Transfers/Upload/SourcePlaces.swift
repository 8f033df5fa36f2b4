import Foundation

/// The path of a file relative to folders that may move together with it: on iOS, an update of the app changes the path of
/// everything that the app keeps.
struct SourcePlaces: Sendable, Hashable, Codable {
    /// Below the home folder; `nil` for a file elsewhere.
    let fromHome: String?
    /// From the folder of the records, with `..` for each step up.
    let fromRecords: String

    /// The home folder: on iOS, the app's own.
    static var home: URL {
        #if canImport(Darwin)
            URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
        #else
            // The same, without all of Foundation.
            URL(fileURLWithPath: ProcessInfo.processInfo.environment["HOME"] ?? "/", isDirectory: true)
        #endif
    }

    init(of path: String, home: URL, records: URL) {
        let path = Self.parts(path)
        let home = Self.parts(home.path)
        fromHome = path.starts(with: home) ? path.dropFirst(home.count).joined(separator: "/") : nil
        let records = Self.parts(records.path)
        let common = zip(path, records).prefix { $0 == $1 }.count
        let up = [String](repeating: "..", count: records.count - common)
        fromRecords = (up + path.dropFirst(common)).joined(separator: "/")
    }

    /// The same file where it is now: the first place that has it unchanged, otherwise the first that has any file.
    func found(_ source: SourceFile, home: URL, records: URL) -> SourceFile {
        let moved = [fromHome.map { home.appendingPathComponent($0) }, records.appendingPathComponent(fromRecords)]
        let places = [source.path] + moved.compactMap { $0?.standardizedFileURL.path }
        let files = places.map { SourceFile(path: $0, identity: source.identity) }
        return files.first { $0.isUnchanged } ?? files.first { !$0.isMissing } ?? source
    }

    private static func parts(_ path: String) -> [String] {
        URL(fileURLWithPath: path).standardizedFileURL.path.split(separator: "/").map { String($0) }
    }
}
