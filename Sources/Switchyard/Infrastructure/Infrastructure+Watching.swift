extension Infrastructure {
    /// Adds an observer of everything that the clients do from now on. Streams that are open already are not observed.
    ///
    /// - Returns: What ends it.
    package func watch(_ observer: any ActivityObserver) -> @Sendable () -> Void { coordinator.relay.add(observer) }

    /// Tells the observer something about the whole.
    package func notice(_ text: String) {
        coordinator.relay.observe(
            InfrastructureEvent(service: .storage, provider: storage.provider, kind: .notice(text)))
    }

    package var isShutDown: Bool { get async { await coordinator.isShutDown } }
}
