import SwitchyardFirestoreFormat

/// Why a channel is over.
enum WebChannelClose: Error, Equatable {
    /// The server ended the stream in an orderly way.
    case byServer
    /// This side did.
    case byClient
    /// The server answered with an error of the service.
    case failure(FirestoreFailure)
    /// The server does not know the session any more: open a new one.
    case sessionGone
    /// The channel itself broke down, and quick repairs did not help.
    case broken(String)

    /// What it means for the streams on top, in the service's own terms.
    var asFailure: FirestoreFailure {
        switch self {
        case .failure(let failure): failure
        case .byServer, .byClient: FirestoreFailure(.unavailable, "The server closed the stream.")
        case .sessionGone: FirestoreFailure(.unavailable, "The server no longer knows the stream.")
        case .broken(let reason): FirestoreFailure(.unavailable, "The stream broke down: \(reason).")
        }
    }
}
