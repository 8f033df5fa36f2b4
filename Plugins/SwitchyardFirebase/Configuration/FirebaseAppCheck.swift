public import Switchyard

/// Where App Check tokens come from: proof that it is the genuine app that asks.
///
/// What proves it (DeviceCheck, Play Integrity, a debug token of the console) is platform matter and the app's choice; an
/// exchange with the App Check service, done by the app or by its server, gives the token. The source keeps it, and
/// fetches a new one before it runs out; here it is only asked, once for each request.
public struct FirebaseAppCheck: Sendable {
    let token: @Sendable (_ isRefused: Bool) async throws -> Secret

    /// - Parameter token: The present token; with `isRefused` a new one, since the server did not take the last.
    public init(token: @escaping @Sendable (_ isRefused: Bool) async throws -> Secret) { self.token = token }

    /// A token that is good for as long as the process runs, such as a test's.
    public static func fixed(_ token: Secret) -> FirebaseAppCheck { FirebaseAppCheck { _ in token } }
}
