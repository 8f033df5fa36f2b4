import Foundation

/// Why a call to a ``FileStorageClient`` failed.
public struct FileStorageError: ClientError {
    public static let area = "File storage"
    public let details: ErrorDetails
    public init(_ details: ErrorDetails) { self.details = details }
}

extension ErrorCode {
    /// The file exceeds the size that the backend or the call allows.
    public static let tooLarge = ErrorCode(rawValue: "tooLarge")
    public static let quotaExceeded = ErrorCode(rawValue: "quotaExceeded")
    /// The received data differs from what was sent.
    public static let checksumMismatch = ErrorCode(rawValue: "checksumMismatch")
    /// The file changed while it was being read or sent.
    public static let changed = ErrorCode(rawValue: "changed")
    /// The server no longer knows the interrupted upload. Start it again.
    public static let uploadExpired = ErrorCode(rawValue: "uploadExpired")
    /// The range lies outside the file.
    public static let rangeNotSatisfiable = ErrorCode(rawValue: "rangeNotSatisfiable")
    /// A file on this device cannot be read or written.
    public static let localFile = ErrorCode(rawValue: "localFile")
}
