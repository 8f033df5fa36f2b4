public import Foundation
public import Switchyard
import Synchronization

/// Supplied by the author of a file storage provider to run the checks.
public protocol FileHarness: Sendable {
    var features: FileFeatures { get }

    /// A new device of the same user for each call. It is shut down after the check.
    func makeFileClient() async throws -> any FileStorageClient

    /// The same device after a restart of the app, with a working connection: `client` was shut down. For
    /// ``FileFeatures/keepsUploads``.
    func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient

    /// The folder in which the check in `namespace` stores everything. The default is `conformance/<namespace>`.
    func folder(in namespace: ConformanceNamespace) throws -> FilePath

    /// The contents at the URL, fetched without a session; `nil` if it no longer leads to the file. For
    /// ``FileFeatures/fetchesURLs``.
    func fetch(_ url: URL) async throws -> Data?

    /// Breaks the connection for good once the client has sent about `count` bytes. For ``FileFeatures/keepsUploads``.
    func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws

    /// A file that the clients may not read. For ``FileFeatures/hasForbiddenFile``.
    func forbiddenFile(in namespace: ConformanceNamespace) async throws -> FilePath

    /// Called after the check's files are deleted: removes what only the harness knows about. The default does nothing.
    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension FileHarness {
    public func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        throw missing("a restart")
    }
    public func folder(in namespace: ConformanceNamespace) throws -> FilePath {
        try FilePath(validating: "conformance/\(namespace)")
    }
    public func fetch(_ url: URL) async throws -> Data? { throw missing("a way to fetch addresses") }
    public func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws {
        throw missing("a way to cut the connection")
    }
    public func forbiddenFile(in namespace: ConformanceNamespace) async throws -> FilePath {
        throw missing("a forbidden file")
    }
    public func cleanUp(_ namespace: ConformanceNamespace) async throws {}

    private func missing(_ what: String) -> ConformanceFailure {
        ConformanceFailure(expectation: "the harness has \(what), as its features say", found: "none")
    }
}

/// What a file storage client under test and its harness declare; decides which checks apply.
public struct FileFeatures: Sendable, Hashable {
    /// The same as the clients' own.
    public var capabilities: FileStorageCapabilities
    /// Whether the harness can fetch a URL without a session.
    public var fetchesURLs = false
    /// Whether the harness can cut a connection and reopen a device, to test resumed uploads.
    public var keepsUploads = false
    /// Whether there is a file that the clients are not allowed to read.
    public var hasForbiddenFile = false

    public init(_ capabilities: FileStorageCapabilities) { self.capabilities = capabilities }

    /// The features for a server's callers, whose uploads end with their request.
    public var forCallers: FileFeatures {
        var features = self
        features.capabilities.resumableUploads = false
        features.keepsUploads = false
        return features
    }
}

public typealias FileRequirement = ConformanceRequirement<FileFeatures>

extension ConformanceRequirement where Features == FileFeatures {
    static let resumable = Self("resumable uploads") { $0.capabilities.resumableUploads }
    static let ranges = Self("ranges") { $0.capabilities.ranges }
    static let customMetadata = Self("custom metadata") { $0.capabilities.customMetadata }
    static let copyAndMove = Self("copying and moving") { $0.capabilities.copyAndMove }
    static let expiringURLs = Self("addresses that expire") { $0.capabilities.expiringURLs }
    static let permanentURLs = Self("addresses without an end") { $0.capabilities.permanentURLs }
    static let unbounded = Self("uploads without a known length") { $0.capabilities.unboundedUploads }
    static let sizeBound = Self("a bound on sizes below 64 MB", remedy: "a provider that has one") {
        $0.capabilities.maximumFileSize.map { $0 < 64 << 20 } ?? false
    }
    static let fetching = Self(
        "a way to fetch addresses", remedy: "a harness of your own, in a test, that fetches them"
    ) { $0.fetchesURLs }
    static let keptUploads = Self("uploads that outlast their client", remedy: "a state folder") { $0.keepsUploads }
    static let forbiddenFile = Self("a forbidden file", remedy: "a harness of your own, in a test, that has one") {
        $0.hasForbiddenFile
    }
}

/// The behaviour of `FileStorageClient`, as checks that every provider passes according to its capabilities.
public enum FileConformance {
    public static let all: [FileCheck] = [
        contentChecks, metadataChecks, transferChecks, readingChecks, listChecks, placeChecks, refusalChecks,
        careChecks,
    ].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: FileFeatures) -> [FileCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features.
    public static func leftOut(for features: FileFeatures) -> [String] { all.leftOut(for: features) }
}

/// Bytes for an upload, controlled by the check.
final class ControlledUpload: Sendable {
    struct Burst: Error {}

    private let stream: AsyncThrowingStream<Data, any Error>
    private let continuation: AsyncThrowingStream<Data, any Error>.Continuation

    init() { (stream, continuation) = AsyncThrowingStream.makeStream() }

    func send(_ data: Data) { continuation.yield(data) }
    func close() { continuation.finish() }
    /// Ends the stream with its own error.
    func fail() { continuation.finish(throwing: Burst()) }

    func source(length: Int64?) -> UploadSource { .stream(length: length) { [stream] in stream } }
}
