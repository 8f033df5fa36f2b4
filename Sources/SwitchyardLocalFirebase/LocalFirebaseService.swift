package import SwitchyardServerKit

/// One of the services of a ``LocalFirebase``.
package protocol LocalFirebaseService: Sendable {
    /// Adds its routes. If two routes match a request, the one added first wins.
    func addRoutes(to router: inout Router)

    /// Stops its tasks. When this is called, the server no longer accepts requests.
    func stop() async
}

extension LocalFirebaseService {
    package func stop() async {}
}
