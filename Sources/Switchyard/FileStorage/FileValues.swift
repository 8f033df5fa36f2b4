public import Foundation

/// What is known about a stored file.
public struct FileMetadata: Sendable, Hashable {
    public let path: FilePath
    public var size: Int64
    public var contentType: String
    public var createdAt: Timestamp?
    public var updatedAt: Timestamp?
    /// Changes with every change of the contents.
    public var version: String?
    /// In lower-case hexadecimal, if the backend reports it.
    public var md5: String?
    public var cacheControl: String?
    /// The app's own metadata.
    public var custom: [String: String]

    public init(
        path: FilePath, size: Int64, contentType: String, createdAt: Timestamp? = nil, updatedAt: Timestamp? = nil,
        version: String? = nil, md5: String? = nil, cacheControl: String? = nil, custom: [String: String] = [:]
    ) {
        self.path = path
        self.size = size
        self.contentType = contentType
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.md5 = md5
        self.cacheControl = cacheControl
        self.custom = custom
    }
}

/// The changes to a file's metadata; `nil` properties stay as they are. A custom entry of `nil` is removed.
public struct FileMetadataChanges: Sendable, Hashable {
    public var contentType: String?
    public var cacheControl: String?
    public var custom: [String: String?]

    public init(contentType: String? = nil, cacheControl: String? = nil, custom: [String: String?] = [:]) {
        self.contentType = contentType
        self.cacheControl = cacheControl
        self.custom = custom
    }
}

public struct UploadOptions: Sendable, Hashable {
    /// By default, determined by the path's extension, else `application/octet-stream`.
    public var contentType: String?
    public var cacheControl: String?
    public var custom: [String: String]
    /// Whether an existing file is replaced; otherwise `.alreadyExists`.
    public var replacesExisting: Bool
    /// How long the upload is retried without a byte getting through. By default, as long as the provider's settings say;
    /// without settings, ten minutes, and half a minute for ``FileStorageClient/put(_:at:options:)``, since its caller waits.
    public var patience: Duration?
    /// Whether the caller only waits for the upload.
    package var isAwaited = false

    public init(
        contentType: String? = nil, cacheControl: String? = nil, custom: [String: String] = [:],
        replacesExisting: Bool = true, patience: Duration? = nil
    ) {
        self.contentType = contentType
        self.cacheControl = cacheControl
        self.custom = custom
        self.replacesExisting = replacesExisting
        self.patience = patience
    }
}

/// Where the bytes of an upload come from.
public enum UploadSource: Sendable {
    case data(Data)
    /// A file on this device. It must not change while it is being sent.
    case file(URL)
    /// A stream of bytes, with its `length` if known; such an upload cannot continue after a restart.
    case stream(length: Int64?, @Sendable () -> any AsyncSequence<Data, any Error>)
}

/// The progress of a transfer.
public struct TransferProgress: Sendable {
    public enum Phase: Sendable, Hashable { case waiting, running, paused, finished }

    public let phase: Phase
    public let completedBytes: Int64
    /// `nil` while it is unknown.
    public let totalBytes: Int64?
    /// Why the last attempt failed, while no byte has got through since then. The transfer keeps retrying until its patience
    /// ends.
    public let lastError: FileStorageError?

    public init(phase: Phase, completedBytes: Int64, totalBytes: Int64?, lastError: FileStorageError? = nil) {
        self.phase = phase
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
        self.lastError = lastError
    }

    /// 0 … 1, or `nil` while it is unknown.
    public var fraction: Double? {
        totalBytes.map { $0 == 0 ? 1 : Double(completedBytes) / Double($0) }
    }
}

extension TransferProgress: Hashable {
    /// Two errors are the same if their contents are.
    public static func == (left: TransferProgress, right: TransferProgress) -> Bool {
        left.phase == right.phase && left.completedBytes == right.completedBytes && left.totalBytes == right.totalBytes
            && left.lastError?.code == right.lastError?.code && left.lastError?.message == right.lastError?.message
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(phase)
        hasher.combine(completedBytes)
    }
}

/// One page of a listing.
public struct FileList: Sendable, Hashable {
    public let files: [FileMetadata]
    /// The folders directly below that are on this page.
    public let folders: [FilePath]
    /// Pass it to get the next page; `nil` on the last one.
    public let nextPage: String?

    public init(files: [FileMetadata], folders: [FilePath], nextPage: String?) {
        self.files = files
        self.folders = folders
        self.nextPage = nextPage
    }
}

/// An upload that was interrupted, by a pause or the end of the process, and can continue.
public struct InterruptedUpload: Sendable, Hashable, Identifiable {
    public let id: String
    public let path: FilePath
    /// The file that was being sent.
    public let file: URL
    public let completedBytes: Int64
    public let totalBytes: Int64

    public init(id: String, path: FilePath, file: URL, completedBytes: Int64, totalBytes: Int64) {
        self.id = id
        self.path = path
        self.file = file
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}

extension FileMetadata: CustomStringConvertible, CustomDebugStringConvertible {
    /// Path, size and content type, without the app's own metadata.
    public var description: String { "\(path) (\(size) bytes, \(contentType))" }
    public var debugDescription: String { "FileMetadata(\(description))" }
}

extension TransferProgress: CustomStringConvertible {
    /// `running: 3145728 of 10485760 bytes (30 %)`, and why it is stuck.
    public var description: String {
        let share =
            totalBytes.flatMap { total in
                fraction.map { " of \(total) bytes (\(Int($0 * 100)) %)" }
            } ?? " bytes"
        let failure = lastError.map { ", last attempt failed (\($0.code)): \($0.message)" } ?? ""
        return "\(phase): \(completedBytes)\(share)\(failure)"
    }
}
