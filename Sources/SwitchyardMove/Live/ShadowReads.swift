import Switchyard
import SwitchyardBytes
import Synchronization

/// Compares what both sides answer to the same read, in the background.
final class ShadowReads: Sendable {
    private struct State {
        var running = 0
        var count = 0
        var differences = 0
    }

    private let clients: Sides<any StorageClient>
    private let report: @Sendable (String) -> Void
    private let state = Mutex(State())
    /// More reads than these are not compared.
    private static let mostAtOnce = 4
    /// How often both sides are read before a difference is one: what was just written needs a moment.
    private static let attempts = 4

    init(_ clients: Sides<any StorageClient>, report: @escaping @Sendable (String) -> Void) {
        self.clients = clients
        self.report = report
    }

    var counts: (count: Int, differences: Int) { state.withLock { ($0.count, $0.differences) } }

    func compare(_ paths: [StoragePath]) {
        compare { client throws(StorageError) in try await client.documents(paths, from: .server) }
    }

    func compare(_ query: Query) {
        compare { client throws(StorageError) in Array(try await client.documents(query, from: .server).documents) }
    }

    private func compare(
        _ read: @escaping @Sendable (any StorageClient) async throws(StorageError) -> [DocumentSnapshot]
    ) {
        let begins = state.withLock { state in
            guard state.running < Self.mostAtOnce else { return false }
            state.running += 1
            return true
        }
        guard begins else { return }
        Task { [self] in
            let differences = await differences(read)
            state.withLock { state in
                state.running -= 1
                guard let differences else { return }
                state.count += 1
                if !differences.isEmpty { state.differences += 1 }
            }
            for difference in (differences ?? []).prefix(10) { report(difference) }
        }
    }

    /// - Returns: `nil` if a side could not be read.
    private func differences(
        _ read: @Sendable (any StorageClient) async throws(StorageError) -> [DocumentSnapshot]
    ) async -> [String]? {
        var found: [String] = []
        for attempt in 1...Self.attempts {
            do throws(StorageError) {
                found = Self.differences(try await read(clients.old), try await read(clients.new))
            } catch {
                return nil
            }
            if found.isEmpty { return [] }
            if attempt < Self.attempts { try? await clients.old.clock.sleep(for: .seconds(1 << (attempt - 1))) }
        }
        return found
    }

    /// What differs, by path and field, and never with contents.
    static func differences(_ old: [DocumentSnapshot], _ new: [DocumentSnapshot]) -> [String] {
        let right = Dictionary(new.map { ($0.path, $0) }) { first, _ in first }
        let known = Set(old.map(\.path))
        var found: [String] = []
        for document in old {
            let other = right[document.path]
            switch (document.data, other?.data) {
            case (nil, nil): break
            case (_?, nil): found.append("“\(document.path)” is missing on the new side of the move.")
            case (nil, _?): found.append("“\(document.path)” exists on the new side of the move only.")
            case (let left?, let right?):
                let fields = Set(left.names + right.names).filter { left[$0] != right[$0] }.sorted()
                guard !fields.isEmpty else { break }
                found.append(
                    "“\(document.path)” differs on the two sides of the move in \(fields.map { "“\($0)”" }.joined(separator: ", "))."
                )
            }
        }
        for document in new where !known.contains(document.path) && document.exists {
            found.append("“\(document.path)” exists on the new side of the move only.")
        }
        if found.isEmpty, old.map(\.path) != new.map(\.path) {
            found.append("The two sides of the move order the results of a query differently.")
        }
        return found
    }
}
