// SPDX-License-Identifier: MIT
// A program of types_perf.py: orders of a market, with inheritance, containers and smart pointers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace market {

struct Price {
    long cents;
    int digits;
};

class Order {
public:
    Order(unsigned long id, Price price, int amount) : id_(id), price_(price), amount_(amount) {}
    virtual ~Order() = default;
    virtual long value() const { return price_.cents * amount_; }
    const Price &price() const { return price_; }
    int take(int amount)
    {
        const int taken = std::min(amount, amount_);
        amount_ -= taken;
        return taken;
    }
    bool is_done() const { return !amount_; }
    unsigned long id() const { return id_; }

protected:
    unsigned long id_;
    Price price_;
    int amount_;
};

struct Audit {
    int looks = 0;
    double sum = 0;
};

class Limited : public Order, public Audit {
public:
    Limited(unsigned long id, Price price, int amount, long limit) : Order(id, price, amount), limit_(limit) {}
    long value() const override { return std::min(limit_, price_.cents * amount_); }
    long limit_;
};

template <typename Key> struct Side {
    std::map<Key, std::vector<std::unique_ptr<Order>>> levels;
    unsigned long trades = 0;
    void add(std::unique_ptr<Order> order) { levels[order->price().cents].push_back(std::move(order)); }
    long match(int amount)
    {
        long value = 0;
        for (auto level = levels.begin(); level != levels.end() && amount;) {
            for (auto &order : level->second) {
                const int taken = order->take(amount);
                amount -= taken;
                value += taken * order->price().cents;
                trades += taken != 0;
            }
            std::erase_if(level->second, [](const auto &order) { return order->is_done(); });
            level = level->second.empty() ? levels.erase(level) : std::next(level);
        }
        return value;
    }
};

struct Client {
    std::string name;
    std::vector<double> history;
    std::shared_ptr<Limited> last;
    enum class Kind : char { small, large } kind;
};

class Market {
public:
    explicit Market(int clients)
    {
        for (int i = 0; i < clients; i++)
            clients_["client" + std::to_string(i)] = {"Client " + std::to_string(i), {}, nullptr,
                                                      i % 3 ? Client::Kind::small : Client::Kind::large};
    }
    __attribute__((noinline)) void step(unsigned long number)
    {
        side_.add(std::make_unique<Order>(number, Price{100 + static_cast<long>(number % 37), 2}, 1 + number % 9));
        if (number % 5 == 0)
            side_.add(std::make_unique<Limited>(number, Price{90, 2}, 3, 200));
        auto &client = clients_["client" + std::to_string(number % clients_.size())];
        client.history.push_back(side_.match(3));
        if (client.kind == Client::Kind::large)
            client.last = std::make_shared<Limited>(number, Price{1, 0}, 1, 5);
        if (client.last)
            client.last->looks++;
    }
    __attribute__((noinline)) double sum() const
    {
        double sum = 0;
        for (const auto &[key, client] : clients_) {
            for (double value : client.history)
                sum += value;
            if (client.last)
                sum += client.last->value() + client.last->sum;
        }
        return sum;
    }
    unsigned long trades() const { return side_.trades; }

private:
    std::unordered_map<std::string, Client> clients_;
    Side<long> side_;
};

} // namespace market

int main(int argc, char **argv)
{
    market::Market market(20);
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 300); i++)
        market.step(i);
    std::printf("%g %lu\n", market.sum(), market.trades());
    return 0;
}
