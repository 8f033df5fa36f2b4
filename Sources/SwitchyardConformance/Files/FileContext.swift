import Foundation
import Switchyard
import Synchronization

/// The context of a file check: its own folder in the cloud, one on this machine, and a device.
final class FileContext: ConformanceContext {
    private struct State {
        var clients: [any FileStorageClient] = []
        var listeners: [@Sendable () -> Void] = []
    }

    let harness: any FileHarness
    let namespace = ConformanceNamespace()
    let features: FileFeatures
    let client: any FileStorageClient
    let folder: FilePath
    /// The folder for local files, removed after the check.
    let localFolder: URL
    private let state = Mutex(State())

    init(_ harness: any FileHarness) async throws {
        self.harness = harness
        features = harness.features
        client = try await harness.makeFileClient()
        folder = try harness.folder(in: namespace)
        localFolder = FileManager.default.temporaryDirectory.appendingPathComponent("switchyard-\(namespace)")
        try FileManager.default.createDirectory(at: localFolder, withIntermediateDirectories: true)
        state.withLock { $0.clients = [client] }
    }

    func device() async throws -> any FileStorageClient {
        let client = try await harness.makeFileClient()
        keep(client)
        return client
    }

    /// Shuts the client down and reopens it on the same device.
    func restart(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        await client.shutDown()
        let reopened = try await harness.reopen(client)
        keep(reopened)
        return reopened
    }

    private func keep(_ client: any FileStorageClient) { state.withLock { $0.clients.append(client) } }

    func path(_ name: String) throws -> FilePath { try FilePath(validating: folder.rawValue + "/" + name) }

    /// Bytes that differ wherever transfers may be split into parts.
    func bytes(_ count: Int) -> Data {
        // The length of the pattern divides no common part size.
        var data = Data()
        data.reserveCapacity(count)
        while data.count + Self.pattern.count <= count { data.append(Self.pattern) }
        data.append(Self.pattern.prefix(count - data.count))
        return data
    }

    private static let pattern = Data((0..<10_007).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

    func localFile(_ name: String, _ contents: Data) throws -> URL {
        let file = localFolder.appendingPathComponent(name)
        try contents.write(to: file)
        return file
    }

    func watch<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> StreamProbe<Stream.Element>
    where Stream.Element: Sendable {
        let probe = StreamProbe<Stream.Element>(stream)
        state.withLock { $0.listeners.append { probe.cancel() } }
        return probe
    }

    @discardableResult
    func expectFailure<Value>(
        _ codes: FileStorageError.Code..., in what: String, file: String = #fileID, line: Int = #line,
        _ body: () async throws -> Value
    ) async throws -> FileStorageError {
        try await SwitchyardConformance.expectFailure(
            codes, as: FileStorageError.self, what, file: file, line: line, body)
    }

    func expect(
        _ path: FilePath, holds contents: Data, file: String = #fileID, line: Int = #line
    ) async throws {
        let found = try await client.data(at: path)
        try SwitchyardConformance.expect(
            found == contents, "“\(path.name)” holds the \(contents.count) bytes that were sent",
            found: found.count == contents.count ? "others" : "\(found.count) bytes", file: file, line: line)
    }

    func expectMissing(_ path: FilePath, file: String = #fileID, line: Int = #line) async throws {
        try await expectFailure(.notFound, in: "asking for what is not there", file: file, line: line) {
            try await client.metadata(of: path)
        }
    }

    func tearDown() async throws {
        let (clients, listeners) = state.withLock { ($0.clients, $0.listeners) }
        for cancel in listeners { cancel() }
        try? FileManager.default.removeItem(at: localFolder)
        var failure: (any Error)?
        do {
            let cleaner = try await harness.makeFileClient()
            do { try await empty(folder, cleaner) } catch { failure = error }
            await cleaner.shutDown()
        } catch {
            failure = error
        }
        for client in clients { await client.shutDown() }
        try await harness.cleanUp(namespace)
        if let failure { throw failure }
    }

    private func empty(_ folder: FilePath, _ client: any FileStorageClient) async throws {
        var page: String?
        var files: [FilePath] = []
        var folders: Set<FilePath> = []
        repeat {
            let list = try await client.list(folder, pageSize: 100, page: page)
            files += list.files.map(\.path)
            folders.formUnion(list.folders)
            page = list.nextPage
        } while page != nil
        for file in files { try await client.delete(file) }
        for folder in folders { try await empty(folder, client) }
    }
}

public typealias FileCheck = ConformanceCheck<any FileHarness, FileFeatures>

extension ConformanceCheck where Harness == any FileHarness, Features == FileFeatures {
    init(
        _ name: String, needs requirements: FileRequirement..., deadline: Duration = .seconds(60),
        _ body: @escaping @Sendable (FileContext) async throws -> Void
    ) {
        self.init(.files, name, requirements: requirements, deadline: deadline) { harness in
            try await ConformanceLife.run(deadline: deadline, begin: { try await FileContext(harness) }, body: body)
        }
    }
}
