/* SPDX-License-Identifier: MIT */
/* print_samples FILE: prints a line for each sample of a recording, in the order of their times. The same in C++17. */
#include <cinttypes>
#include <iomanip>
#include <iostream>
#include <memory>
#include <perfile/perfile.h>
#include <stdexcept>

using reader_ptr = std::unique_ptr<perfile_reader, decltype(&perfile_close)>;
using session_ptr = std::unique_ptr<perfile_session, decltype(&perfile_session_close)>;

static int check(int code, const perfile_error &error)
{
    if (code < 0)
        throw std::runtime_error(error.message);
    return code;
}

static reader_ptr open_reader(const char *path)
{
    perfile_error error;
    perfile_reader *reader = nullptr;
    check(perfile_open_path(path, nullptr, &reader, &error), error);
    return reader_ptr(reader, perfile_close);
}

static session_ptr open_session(const reader_ptr &reader)
{
    perfile_error error;
    perfile_session *session = nullptr;
    check(perfile_session_open(reader.get(), &session, &error), error);
    return session_ptr(session, perfile_session_close);
}

static void print(perfile_session *session, const perfile_record *record, const perfile_sample &sample)
{
    std::cout << std::dec << sample.time / 1000000000 << '.' << std::setfill('0') << std::setw(9)
              << sample.time % 1000000000 << ' ' << perfile_session_comm(session, sample.pid, sample.tid) << ' '
              << sample.pid << '/' << sample.tid << ' ' << record->event->name << " 0x" << std::hex << sample.ip
              << '\n';
}

/* Whether all samples were valid. */
static bool print_samples(const char *path)
{
    reader_ptr reader = open_reader(path);
    session_ptr session = open_session(reader);
    const perfile_record *record = nullptr;
    perfile_error error;
    perfile_sample sample{};
    bool valid = true;

    sample.size = sizeof(sample);
    while (check(perfile_session_next(session.get(), &record, &error), error) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE)
            continue;
        if (perfile_sample_decode(record, &sample, &error) == 0) {
            print(session.get(), record, sample);
        } else {
            std::cerr << "print_samples: " << error.message << '\n';
            valid = false;
        }
    }
    return valid;
}

int main(int argc, char **argv)
{
    try {
        bool valid = print_samples(argc > 1 ? argv[1] : "perf.data");
        return !valid || !std::cout.flush();
    } catch (const std::exception &error) {
        std::cerr << "print_samples: " << error.what() << '\n';
        return 1;
    }
}
