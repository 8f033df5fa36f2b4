import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// An answer of Supabase's storage that is no success.
///
/// Nearly every failure comes with HTTP status 400 and says in its body which one was meant; resumable uploads, gateways
/// and some versions use the real one.
struct SupabaseFileFailure: Error, CustomStringConvertible {
    /// What is meant, wherever it stood.
    let status: Int
    /// The server's own name of the failure; older servers have only a text.
    let code: String
    let text: String
    /// Whether it is a page for people, which the service never writes: something before it has answered.
    let isPage: Bool

    var description: String { "\(status) \(code): \(text)" }

    init(_ response: HTTPResponse) {
        let json = try? JSON(parsing: response.body)
        isPage = response.body.first { $0 > 0x20 } == UInt8(ascii: "<")
        let stated = json?["statusCode"].flatMap { $0.int ?? $0.string.flatMap { Int($0) } }
        status = stated ?? response.status
        code = json?["code"]?.string ?? json?["error"]?.string ?? ""
        text = String((json?["message"]?.string ?? String(decoding: response.body, as: UTF8.self)).prefix(300))
    }

    /// Whether it is the session's token that was refused: such an answer looks like one about permissions.
    var isAboutToken: Bool {
        if ["InvalidJWT", "ExpiredToken"].contains(code) || status == 401 { return true }
        guard status == 403 || status == 400 else { return false }
        return ["exp", "jwt", "jws"].contains { word in
            text.lowercased().split { !$0.isLetter }.contains { $0 == word }
        }
    }
}

/// The one table from the failures of Supabase's storage to our codes.
extension FileStorageError {
    init(supabase response: HTTPResponse, isSession: Bool = false, now: Timestamp) {
        let failure = SupabaseFileFailure(response)
        let (code, message) =
            Self.byName(failure) ?? (isSession ? Self.bySession(failure) : nil) ?? Self.byStatus(failure)
        let wait = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) }
        let isAborted = ["ResourceReferenced", "TransactionError"].contains(failure.code)
        self.init(code, message, isRetryable: isAborted ? true : nil, retryAfter: wait, underlying: failure)
    }

    private static func byName(_ failure: SupabaseFileFailure) -> (Code, String)? {
        switch failure.code {
        case "NoSuchKey", "not_found": (.notFound, "There is no such file, or it may not be seen.")
        case "NoSuchBucket", "Bucket not found": (.notFound, "There is no such bucket, or it may not be seen.")
        case "NoSuchUpload", "InvalidUploadId":
            (.uploadExpired, "The server has forgotten the upload; start it anew.")
        case "InvalidSignature", "SignatureDoesNotMatch", "InvalidUploadSignature":
            (.unauthorized, "The address's token is not good for this.")
        case "KeyAlreadyExists", "ResourceAlreadyExists", "BucketAlreadyExists", "Duplicate":
            (.alreadyExists, "There is a file at this path already.")
        case "EntityTooLarge", "Payload too large": (.tooLarge, "The file is larger than the bucket allows.")
        case "InvalidMimeType", "invalid_mime_type":
            (.invalidArgument, "The bucket does not take this kind of contents.")
        case "InvalidKey", "InvalidBucketName", "InvalidRequest", "InvalidParameter", "MissingParameter",
            "MissingContentLength", "InvalidChecksum":
            (.invalidArgument, "The request was refused as invalid.")
        case "InvalidRange": (.rangeNotSatisfiable, "The range lies outside of the file.")
        case "ResourceLocked", "LockTimeout": (.unavailable, "Another request holds this file.")
        case "ResourceReferenced", "TransactionError":
            (Code(rawValue: failure.code), "Another request was faster; try again.")
        case "SlowDown", "too_many_connections": (.rateLimited, "Too many requests; wait a little.")
        case "DatabaseTimeout", "DatabaseReadOnly": (.unavailable, "The server's database cannot answer now.")
        case "FeatureNotEnabled", "NotSupported": (.unsupported, "The project does not offer this.")
        // After all names that say something else: a file may be called after a token.
        case _ where failure.isAboutToken: (.unauthenticated, "The session's token was refused.")
        case "AccessDenied", "Unauthorized": (.unauthorized, "The bucket's policies do not allow it.")
        default: nil
        }
    }

    /// Resumable uploads say little, but with their true status.
    private static func bySession(_ failure: SupabaseFileFailure) -> (Code, String)? {
        switch failure.status {
        case 404, 410: (.uploadExpired, "The server has forgotten the upload; start it anew.")
        case 423: (.unavailable, "Another request holds this upload.")
        default: nil
        }
    }

    private static func byStatus(_ failure: SupabaseFileFailure) -> (Code, String) {
        switch failure.status {
        case 400 where failure.isPage, 403 where failure.isPage, 404 where failure.isPage:
            (.unavailable, "Something before the service answered with a page; check the network and try again.")
        case 400: (.invalidArgument, "The request was refused as invalid.")
        case 401: (.unauthenticated, "The session's token was refused.")
        case 402: (.quotaExceeded, "The project's quota is used up.")
        case 403: (.unauthorized, "The bucket's policies do not allow it.")
        case 404: (.notFound, "There is no such file, or it may not be seen.")
        case 408: (.deadlineExceeded, "The server waited too long for the request.")
        case 409: (.alreadyExists, "There is a file at this path already.")
        case 413: (.tooLarge, "The file is larger than the bucket allows.")
        case 415: (.invalidArgument, "The bucket does not take this kind of contents.")
        case 416: (.rangeNotSatisfiable, "The range lies outside of the file.")
        case 429: (.rateLimited, "Too many requests; wait a little.")
        case 500...599: (.unavailable, "The server cannot answer now.")
        default:
            (
                Code(rawValue: failure.code.isEmpty ? "http\(failure.status)" : failure.code),
                "The server answered with status \(failure.status)."
            )
        }
    }

    static let unreadable = FileStorageError(.unavailable, "The server's answer could not be read.")
}
