let acme = AcmeModule.Settings()
let globex = GlobexModule.Settings()
let selection = InfrastructureSelection(default: .acme)
struct MyLimiter: CallInterceptor {}

extension ConfigurableModule {
    static let acme = ConfigurableModule(AcmeModule.self)
}
