import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// A server of files in memory for the tests of transfers, which fails where it is told to.
final class MemoryFileServer: UploadDriver, DownloadDriver {
    /// What goes wrong with one call.
    enum Fault: Sendable {
        case none
        /// Nothing arrives.
        case refuse(FileStorageError)
        /// Everything arrives, the answer does not.
        case loseAnswer
        /// So many bytes arrive, and no answer comes back.
        case cut(after: Int)
        /// The session is no longer known.
        case forget
        /// A byte changes on its way.
        case corrupt
        /// The call waits until it is cancelled.
        case hang
        /// Somebody else stores other contents before the call is answered.
        case replace(Data)
    }

    struct State: Sendable {
        var file: (contents: [UInt8], version: Int)?
        var sessions: [String: (received: [UInt8], isFinished: Bool)] = [:]
        var calls: [String] = []
        var faults: [(call: String, fault: Fault)] = []
        var opened = 0
    }

    static let lost = FileStorageError(.unavailable, "The connection is lost.")
    static let forgotten = FileStorageError(.uploadExpired, "The session is not known.")

    let path: FilePath = "film.bin"
    let granularity: Int64
    let reportsChecksums: Bool
    private let state = Mutex(State())

    init(granularity: Int64 = 1, reportsChecksums: Bool = true) {
        self.granularity = granularity
        self.reportsChecksums = reportsChecksums
    }

    var calls: [String] { state.withLock { $0.calls } }
    var contents: [UInt8]? { state.withLock { $0.file?.contents } }
    var sessionCount: Int { state.withLock { $0.sessions.count } }

    func put(_ contents: [UInt8]) {
        state.withLock { $0.file = (contents, ($0.file?.version ?? 0) + 1) }
    }

    func forgetSessions() { state.withLock { $0.sessions = [:] } }

    /// The next call of this name meets the fault; several are met in order.
    func fail(_ call: String, _ faults: Fault...) {
        state.withLock { state in state.faults += faults.map { (call, $0) } }
    }

    private func enter(_ call: String, _ detail: String = "") async throws(FileStorageError) -> Fault? {
        let fault = state.withLock { state -> Fault? in
            state.calls.append(detail.isEmpty ? call : "\(call) \(detail)")
            guard let index = state.faults.firstIndex(where: { $0.call == call }) else { return nil }
            return state.faults.remove(at: index).fault
        }
        switch fault {
        case .refuse(let error): throw error
        case .hang:
            await untilCancelled()
            throw FileStorageError(.cancelled, "It was cancelled.")
        default: return fault
        }
    }

    private func stored(_ file: (contents: [UInt8], version: Int)) -> StoredFile {
        StoredFile(
            FileMetadata(
                path: path, size: Int64(file.contents.count), contentType: "text/plain", version: "\(file.version)"),
            reportsChecksums ? ContentChecksums(crc32c: CRC32C.checksum(of: file.contents)) : ContentChecksums())
    }

    func describe() throws(FileStorageError) -> StoredFile {
        guard let file = state.withLock({ $0.file }) else { throw FileStorageError(.notFound, "No such file.") }
        return stored(file)
    }

    // MARK: Uploads

    func begin(length: Int64?) async throws(FileStorageError) -> UploadSession {
        let fault = try await enter("begin", length.map(String.init) ?? "?")
        let id = RandomID.make()
        state.withLock { $0.sessions[id] = ([], false) }
        if case .loseAnswer = fault { throw Self.lost }
        return UploadSession(address: id, granularity: granularity, owner: UploadSession.noUser)
    }

    func send(
        _ bytes: UploadBytes, at offset: Int64, isLast: Bool, in session: UploadSession,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> UploadAnswer {
        let fault = try await enter("send", "\(offset)+\(bytes.count)\(isLast ? " last" : "")")
        var content = Self.read(bytes)
        if case .forget = fault { state.withLock { $0.sessions[session.address] = nil } }
        if case .corrupt = fault, !content.isEmpty { content[0] ^= 1 }
        var isCut = false
        if case .cut(let count) = fault {
            content = Array(content.prefix(count))
            isCut = true
        }
        progress(Int64(content.count))
        let answer: UploadAnswer? = state.withLock { state in
            guard let known = state.sessions[session.address] else { return nil }
            guard Int64(known.received.count) == offset, !known.isFinished else { return .displaced }
            state.sessions[session.address]?.received += content
            guard isLast, !isCut else { return .active(offset: offset + Int64(content.count)) }
            let file = (known.received + content, (state.file?.version ?? 0) + 1)
            state.file = file
            state.sessions[session.address]?.isFinished = true
            return .finished(stored(file))
        }
        guard let answer else { throw Self.forgotten }
        if case .loseAnswer = fault { throw Self.lost }
        if isCut { throw Self.lost }
        return answer
    }

    func state(of session: UploadSession) async throws(FileStorageError) -> UploadAnswer {
        let fault = try await enter("ask")
        if case .forget = fault { state.withLock { $0.sessions[session.address] = nil } }
        let (known, file) = state.withLock { ($0.sessions[session.address], $0.file) }
        guard let known else { throw Self.forgotten }
        if known.isFinished, let file { return .finished(stored(file)) }
        return .active(offset: Int64(known.received.count))
    }

    func store(
        _ bytes: UploadBytes, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> StoredFile {
        let fault = try await enter("store", "\(bytes.count)")
        var content = Self.read(bytes)
        if case .corrupt = fault, !content.isEmpty { content[0] ^= 1 }
        put(content)
        if case .loseAnswer = fault { throw Self.lost }
        return try describe()
    }

    func abandon(_ session: UploadSession) async {
        state.withLock { state in
            state.calls.append("abandon")
            if state.sessions[session.address]?.isFinished == false { state.sessions[session.address] = nil }
        }
    }

    private static func read(_ bytes: UploadBytes) -> [UInt8] {
        switch bytes {
        case .memory(let bytes): bytes
        case .file(let path, let range):
            (try? Data(contentsOf: URL(fileURLWithPath: path))).map {
                Array($0[Int(range.lowerBound)..<Int(range.upperBound)])
            } ?? []
        }
    }

    // MARK: Downloads

    func size(of path: FilePath) async throws(FileStorageError) -> Int64 { try describe().metadata.size }

    /// Gives the bytes in pieces of a hundred, and breaks off where it was told.
    private final class Body: DownloadBody {
        private let rest: Mutex<(bytes: ArraySlice<UInt8>, isCut: Bool)>
        init(_ bytes: [UInt8], isCut: Bool) { rest = Mutex((bytes[...], isCut)) }

        func next() async throws(FileStorageError) -> [UInt8]? {
            let (piece, isCut) = rest.withLock { rest -> ([UInt8], Bool) in
                let piece = Array(rest.bytes.prefix(100))
                rest.bytes = rest.bytes.dropFirst(100)
                return (piece, rest.isCut)
            }
            if !piece.isEmpty { return piece }
            if isCut { throw MemoryFileServer.lost }
            return nil
        }

        func cancel() { rest.withLock { $0 = ([], true) } }
    }

    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer {
        let range = "\(request.offset)-" + (request.end.map { "\($0)" } ?? "")
        let fault = try await enter("open", range)
        if case .replace(let contents) = fault { put([UInt8](contents)) }
        guard let file = state.withLock({ $0.file }) else { throw FileStorageError(.notFound, "No such file.") }
        let total = Int64(file.contents.count)
        guard request.offset < total || request.offset == 0 else { throw .rangeOutside }
        let isWhole: Bool
        if case .forget = fault { isWhole = true } else { isWhole = false }
        let start = isWhole ? 0 : request.offset
        let end = isWhole ? total : min(request.end ?? total, total)
        var bytes = Array(file.contents[Int(start)..<Int(end)])
        var isCut = false
        if case .cut(let count) = fault {
            bytes = Array(bytes.prefix(count))
            isCut = true
        }
        if case .corrupt = fault, !bytes.isEmpty { bytes[0] ^= 1 }
        let head = DownloadHead(
            start: start, total: total, version: "\(file.version)", checksums: stored(file).checksums)
        return DownloadAnswer(head, Body(bytes, isCut: isCut))
    }
}
