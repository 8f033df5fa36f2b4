import Foundation
import Switchyard
import SwitchyardBytes

extension StorageConformance {
    /// Input that no backend can accept is refused before anything is sent, with a message that says what to change.
    static let inputChecks: [StorageCheck] = [
        refused("a document above a mebibyte is refused") { context in
            try await context.store.set(
                context.document("a"), ["v": .of(String(repeating: "0123456789", count: 110_000))])
        },
        refused("more than twenty levels are refused") { context in
            var value: DocumentValue = "deep"
            for _ in 0..<21 { value = ["level": value] }
            try await context.store.set(context.document("a"), ["v": .value(value)])
        },
        refused("an array in an array is refused") { context in
            try await context.store.set(context.document("a"), ["v": .value([1, [2]])])
        },
        refused("a reserved field name is refused") { context in
            try await context.store.set(context.document("a"), ["__type__": 1])
        },
        refused("an empty field name is refused") { context in
            try await context.store.set(context.document("a"), ["": 1])
        },
        refused("a field name above 1500 bytes is refused") { context in
            let name = String(repeating: "n", count: 1501)
            try await context.store.set(
                context.document("a"), WriteFields(DocumentData([(name, DocumentValue.integer(1))])))
        },
        refused("an update of nothing is refused") { context in
            try await context.store.update(context.document("a"), [:])
        },
        refused("an update of a field and of a part of it is refused") { context in
            try await context.store.update(context.document("a"), ["m": 1, "m.x": 2])
        },
        refused("removing a field in a set is refused") { context in
            try await context.store.set(context.document("a"), ["text": .delete])
        },
        refused("a merge whose mask names what it does not have is refused") { context in
            _ = try await context.store.commit(.merge(context.document("a"), ["text": "x"], mask: ["number"]))
        },
        refused("a path with an odd number of segments is no document") { _ in
            _ = try StoragePath(validating: "users")
        },
        refused("a path with an even number of segments is no collection") { _ in
            _ = try CollectionPath(validating: "users/alice")
        },
        refused("a place that is not on earth is refused") { _ in _ = try GeoPoint(latitude: 91, longitude: 0) },
        refused("a time after the year 9999 is refused") { _ in
            _ = try Timestamp(validatingSeconds: 253_402_300_800, nanoseconds: 0)
        },
        StorageCheck("errors give away nothing that was written") { context in
            let secret = "s3cret-\(context.namespace)"
            let path = context.document("a")
            let error = try await context.store.expectFailure(.notFound, in: "the update") {
                try await context.store.update(path, ["text": .of(secret)])
            }
            for text in [error.description, error.message, "\(error)", error.errorDescription ?? ""] {
                try expect(!text.includes(secret), "no text of the error holds what was written", found: text)
            }
        },
    ].within("bad input")

    private static func refused(
        _ name: String, _ body: @escaping @Sendable (StorageContext) async throws -> Void
    ) -> StorageCheck {
        StorageCheck(name) { context in
            let error = try await context.store.expectFailure(.invalidArgument, in: "the call") {
                try await body(context)
            }
            try expect(!error.isRetryable, "it is not worth a retry", found: "isRetryable")
            try await context.store.expect(Query(in: context.items), gives: [])
        }
    }

    static let lifeChecks: [StorageCheck] = [
        StorageCheck("the client has the capabilities that the harness declares") { context in
            try expectEqual(context.client.capabilities, context.features.capabilities, "the client's capabilities")
            try expect(!context.client.provider.rawValue.isEmpty, "the provider has a name", found: "an empty one")
        },
        StorageCheck("after the end every call is refused as such") { context in
            let device = try await context.device()
            let path = context.document("a")
            try await device.set(path, ["number": 1])
            await device.client.shutDown()
            await device.client.shutDown()
            try await device.expectFailure(.shutDown, in: "reading") { try await device.client.document(path) }
            try await device.expectFailure(.shutDown, in: "a query") {
                try await device.client.documents(Query(in: context.items))
            }
            try await device.expectFailure(.shutDown, in: "writing") {
                try await device.client.setDocument(path, ["number": 2])
            }
            try await context.store.expect(path, holds: ["number": 1])
        },
        StorageCheck("the end of a client ends its streams, and those of no other", needs: .liveStreams) { context in
            let device = try await context.device()
            let path = context.document("a")
            let own = context.watch(path)
            let theirs = context.watch(device.client.snapshots(of: path))
            let query = context.watch(device.client.snapshots(of: Query(in: context.items)))
            for probe in [own, theirs] { try await probe.first("the missing document") }
            try await query.first("an empty result")
            await device.client.shutDown()
            for failure in [try await theirs.end(), try await query.end()] {
                let code = (failure as? StorageError)?.code
                try expect(
                    failure == nil || code == .shutDown, "the stream ends with the client",
                    found: Readable.text(failure))
            }
            try await context.store.set(path, ["number": 1])
            try await own.newest("the change") { $0.exists }
        },
        StorageCheck("a stream begun after the end is refused as such", needs: .liveStreams) { context in
            let device = try await context.device()
            await device.client.shutDown()
            let probe = context.watch(device.client.snapshots(of: context.document("a")))
            let failure = try await probe.end()
            try expectEqual((failure as? StorageError)?.code, .shutDown, "the failure's code")
        },
        StorageCheck("a client can be found in itself") { context in
            func find<Client: StorageClient>(_ client: Client) -> Bool { client.unwrapped(as: Client.self) != nil }
            try expect(find(context.client), "the client unwraps to its own type", found: "nothing")
            try expect(
                context.client.unwrapped(as: ForeignValue.self) == nil, "it does not unwrap to another",
                found: "something")
        },
        StorageCheck("a cancelled read ends as cancelled, or with its result") { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            for _ in 0..<10 {
                let task = Task { try await context.client.document(path) }
                task.cancel()
                do {
                    let snapshot = try await task.value
                    try context.store.expect(snapshot, holds: ["number": 1])
                } catch let error as StorageError {
                    try expectEqual(error.code, .cancelled, "the error's code")
                }
            }
            try await context.store.expect(path, holds: ["number": 1])
        },
        StorageCheck("a cancelled write takes effect whole or not at all", needs: .batches(of: 2)) { context in
            for round in 0..<10 {
                let paths = ["a\(round)", "b\(round)"].map { context.document($0) }
                let task = Task {
                    try await context.client.commit(WriteBatch(try paths.map { try .set($0, ["number": 1]) }))
                        .acknowledged()
                }
                task.cancel()
                do {
                    _ = try await task.value
                } catch let error as StorageError {
                    try expectEqual(error.code, .cancelled, "the error's code")
                }
                let found = try await context.client.documents(paths, from: .server).map(\.exists)
                try expectEqual(found[0], found[1], "whether the first document exists")
            }
        },
        StorageCheck("a cancelled transaction ends as cancelled and writes nothing", needs: .transactions) { context in
            let path = context.document("a")
            let task = Task {
                try await context.client.transaction { transaction in
                    _ = try await transaction.document(path)
                    withUnsafeCurrentTask { $0?.cancel() }
                    try Task.checkCancellation()
                    try await transaction.set(path, ["number": 1])
                }
            }
            try await context.store.expectFailure(.cancelled, in: "the transaction") { try await task.value }
            try await context.store.expectMissing(path)
        },
    ].within("life")
}

/// A client type that does not exist.
private struct ForeignValue: Sendable {}
