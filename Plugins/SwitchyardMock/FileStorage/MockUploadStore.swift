import Foundation
import Synchronization

/// Where a device keeps what it must know to go on with interrupted uploads: in memory, or in a file.
public final class MockUploadStore: Sendable {
    struct Kept: Sendable, Codable {
        let id: String
        let path: String
        let file: URL
        let total: Int64
        var completed: Int64
    }

    private let state: Mutex<[Kept]>
    private let file: MockFile?

    /// In memory: outlasts clients, not the process.
    public convenience init() { self.init(kept: [], file: nil) }

    /// - Throws: What is wrong with the file; it has been set aside if it is damaged.
    convenience init(file: MockFile) throws(MockFile.Failure) {
        self.init(kept: try file.decode([Kept].self) ?? [], file: file)
    }

    private init(kept: [Kept], file: MockFile?) {
        state = Mutex(kept)
        self.file = file
    }

    var all: [Kept] { state.withLock { $0 } }

    func set(_ kept: Kept) {
        change { uploads in
            if let index = uploads.firstIndex(where: { $0.id == kept.id }) {
                uploads[index] = kept
            } else {
                uploads.append(kept)
            }
        }
    }

    func remove(_ id: String) { change { $0.removeAll { $0.id == id } } }

    private func change(_ body: (inout [Kept]) -> Void) {
        state.withLock { uploads in
            body(&uploads)
            // An upload that cannot be noted down still goes on in this process.
            try? file?.encode(uploads)
        }
    }
}
