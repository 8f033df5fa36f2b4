public import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// An error answer, with the details useful for debugging.
struct FirebaseFileFailure: Error, CustomStringConvertible {
    let status: Int
    /// The server's text: mostly from JSON, sometimes plain.
    let text: String
    /// Whether it is a web page, which the service never sends: it comes from a proxy.
    let isPage: Bool

    var description: String { "\(status): \(text)" }

    init(_ response: HTTPResponse) {
        status = response.status
        // The upload server may answer with a page, but marks its answers with this header.
        isPage = response.body.isWebPage && response.headers["X-GUploader-UploadID"] == nil
        let message = (try? JSON(parsing: response.body))?["error"]?["message"]?.string
        text = String((message ?? String(decoding: response.body, as: UTF8.self)).prefix(300))
    }
}

/// Maps the statuses of Firebase's file storage to the portable codes. Bodies vary, so only the status counts.
extension FileStorageError {
    /// The subject of a request: a 404 has another meaning for each.
    enum FirebaseSubject: Sendable {
        case object, bucket, session
    }

    init(firebase response: HTTPResponse, about subject: FirebaseSubject, in bucket: String, now: Timestamp) {
        let failure = FirebaseFileFailure(response)
        let missingBucket =
            "The bucket “\(bucket)” does not exist. The Firebase console shows its name under Storage; check bucket in Firebase's "
            + "configuration."
        let (code, message): (Code, String) =
            switch (response.status, subject) {
            case (400..<500, _) where failure.isPage && ![407, 413, 429].contains(failure.status):
                (
                    .unavailable,
                    "A web page came back instead of Firebase's answer (HTTP \(response.status)). Check hosts and emulators "
                        + "in Firebase's configuration, and that no proxy or sign-in page of the network is in between."
                )
            case (400, _): (.invalidArgument, "The server rejected the request as invalid.")
            case (401, _) where failure.text.contains("App Check"):
                (.unauthorized, "The App Check token is missing or invalid. Check the source of App Check tokens.")
            case (401, _) where failure.text.contains("local Firebase"): (.unauthenticated, failure.text)
            case (401, _): (.unauthenticated, "The server rejected the session's token.")
            case (402, _): (.quotaExceeded, "The project's quota is used up.")
            case (403, _): (.unauthorized, "The security rules do not allow it.")
            case (404, .object) where failure.text.contains("bucket"): (.notFound, missingBucket)
            case (404, .object): (.notFound, "There is no such file.")
            case (404, .bucket): (.notFound, missingBucket)
            case (404, .session), (410, .session):
                (.uploadExpired, "The server no longer knows the upload. Start it again.")
            case (408, _): (.deadlineExceeded, "The server timed out waiting for the request.")
            case (413, _): (.tooLarge, "The file is larger than the server allows.")
            case (416, _): (.rangeNotSatisfiable, "The range lies outside the file.")
            case (429, _): (.rateLimited, "Too many requests. Wait a moment.")
            case (500...599, _): (.unavailable, "The server is not responding.")
            default:
                (
                    Code(rawValue: "http\(response.status)"),
                    "The server refused the call (HTTP \(response.status)). Check hosts and emulators in Firebase's "
                        + "configuration."
                )
            }
        let wait = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) }
        self.init(code, message, retryAfter: wait, underlying: failure)
    }

    init(_ failure: FirebaseTokens.Failure) { self.init(failure.meaning) }

    static let unreadableAnswer = FileStorageError(.unavailable, "The server's response could not be read.")
}

extension ErrorCode {
    /// The file has no download token, so it has no address that works without signing in. Files stored with tools other than
    /// Firebase's may have none; the console can create one.
    public static let noDownloadURL = Self(rawValue: "noDownloadURL")
}
