import Synchronization

extension SwitchCoordinator {
    /// The factories that make clients for callers.
    nonisolated func factories() async throws(InfrastructureError) -> ServerClientFactories {
        if let ready = serverClientFactories.withLock({ $0 }) { return ready }
        return try await gatherFactories()
    }

    /// The factory of the provider chosen for `service`, and the policies of its clients.
    func factoryAndPolicies(
        for service: InfrastructureService
    ) async throws(InfrastructureError) -> (factory: any ServerClientFactory, policies: CallPolicies) {
        let factory = try await serverClientFactory(for: service)
        return (factory, try currentPlan().policies)
    }

    private func gatherFactories() async throws(InfrastructureError) -> ServerClientFactories {
        while true {
            let change = lastChange
            await change?.value
            let storage = try await serverClientFactory(for: .storage)
            let files: Result<any ServerClientFactory, InfrastructureError>
            var lasts = true
            do throws(InfrastructureError) {
                files = .success(try await serverClientFactory(for: .files))
            } catch {
                files = .failure(error)
                // Any other error may not happen again with the next request.
                lasts = error.code == .unsupported || error.code == .invalidConfiguration
            }
            // Another change or the shutdown may have begun in the meantime.
            guard let plan, !isShutDown, change == lastChange else { continue }
            let made = ServerClientFactories(
                storage: storage, files: files, policies: plan.policies, now: options.now)
            if lasts { serverClientFactories.withLock { $0 = made } }
            return made
        }
    }

    /// The factory of the provider that is chosen for `service`, made once however many callers ask for it.
    func serverClientFactory(for service: InfrastructureService) async throws(InfrastructureError)
        -> any ServerClientFactory
    {
        while true {
            // A change in progress may affect this service.
            await lastChange?.value
            let plan = try currentPlan()
            guard let provider = plan.selection.provider(for: service), let module = plan.module(of: provider) else {
                throw InfrastructureError(
                    .unsupported, "No provider was chosen for \(service.rawValue). Choose one in the selection.")
            }
            let making =
                factories[provider]
                ?? Task { () -> FactoryResult in
                    do throws(InfrastructureError) {
                        let made = try await module.makeServerClientFactory(plan.options.context(for: provider, nil))
                        return await keep(made, of: plan.setup(of: provider))
                            ? .success(made) : .failure(.infrastructureShutDown)
                    } catch {
                        return .failure(error)
                    }
                }
            factories[provider] = making
            let change = changes
            let result = await making.value
            // The settings may have changed, or everything may have been shut down, in the meantime.
            guard change == changes, !isShutDown else { continue }
            // What has failed may succeed with the next request.
            if case .failure = result, factories[provider] == making { factories[provider] = nil }
            return try result.get()
        }
    }
}
