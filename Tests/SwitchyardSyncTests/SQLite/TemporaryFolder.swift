import Foundation

/// A folder of its own for a test, gone with the object.
final class TemporaryFolder {
    let url: URL

    /// - Parameter parent: ``ScratchSpace`` where nothing depends on a real disk.
    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("switchyard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
