import SwitchyardFirestoreFormat

/// Why a channel has ended.
enum WebChannelClose: Error, Equatable {
    /// The server ended the stream regularly.
    case byServer
    /// This client ended it.
    case byClient
    /// The server answered with an error of the service.
    case failure(FirestoreFailure)
    /// The server no longer knows the session: open a new one.
    case sessionGone
    /// The channel itself failed, and quick retries did not help.
    case broken(String)

    /// The failure for the streams above, in the service's terms.
    var asFailure: FirestoreFailure {
        switch self {
        case .failure(let failure): failure
        case .byServer, .byClient: FirestoreFailure(.unavailable, "The server closed the stream.")
        case .sessionGone: FirestoreFailure(.unavailable, "The server no longer knows the stream.")
        case .broken(let reason): FirestoreFailure(.unavailable, "The stream broke down: \(reason).")
        }
    }
}
