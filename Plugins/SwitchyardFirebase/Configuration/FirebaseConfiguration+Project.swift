import Switchyard

extension FirebaseConfiguration {
    /// These settings with their project filled in, and the source of its tokens.
    ///
    /// - Parameter environment: The environment, for the variables of Google's own tools.
    /// - Throws: `.invalidConfiguration` for a credential that cannot be used, and if nothing names a project.
    func resolved(
        environment: [String: String]
    ) throws(InfrastructureError) -> (configuration: FirebaseConfiguration, source: GoogleTokens.Source?) {
        guard let source = try credential?.resolved(environment: environment) else { return (self, nil) }
        // The configured project takes precedence: an account of one project may have roles in another.
        guard project.isEmpty else { return (self, source) }
        let named = source.project.flatMap { $0.isEmpty ? nil : $0 }
        let variables = ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"].compactMap { environment[$0] }
        guard let found = named ?? variables.first(where: { !$0.isEmpty }) else {
            throw InfrastructureError(
                .invalidConfiguration,
                "Firebase's credential names no project. Set project in Firebase's configuration, or the variable "
                    + "GOOGLE_CLOUD_PROJECT.")
        }
        var complete = self
        complete.project = found
        return (complete, source)
    }
}
